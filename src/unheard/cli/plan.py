"""``unheard plan``: how many of the silent to ask, and what their answers say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import click

from unheard.analysis.follow_up import FollowUp, combine_follow_up
from unheard.analysis.plan import Plan, Scenario, plan_follow_up
from unheard.cli.layout import aligned, paragraph
from unheard.cli.options import Values, pick, read_counts, takes_options
from unheard.errors import OptionError
from unheard.model.notes import NOTE_TEXTS
from unheard.model.scale import Scale
from unheard.options.questions import ASSUMPTION, SETTINGS
from unheard.present.estimate_json import tidy
from unheard.text import rating_text, write_exactly


@click.command(
    # A negative count looks like an option; read_counts tells the two apart.
    context_settings={"ignore_unknown_options": True},
)
@click.argument("counts", nargs=-1)
@takes_options("plan")
def plan(values: Values, counts: tuple[str, ...]) -> None:
    """Plan a follow-up of non-respondents.

    COUNTS is the number of ratings of each value, lowest first. Once the responses are in,
    --follow-up combines the two.

    \b
    Examples:
      unheard plan 120 30 45 200 605 --n 2400 --q 0.3 --width 0.3
      unheard plan 120 30 45 200 605 --n 2400 --q 0.3 --above 4 --power 0.9
      unheard plan 120 30 45 200 605 --n 2400 --follow-up 3,1,4,6,2
      unheard plan 120 30 45 200 605 --n 2400 --follow-up 3,1,4,6,2 --asked 30 --q 0.3
    """
    _check_together(values)
    shared = pick(values, ("n", *(one.name for one in (*ASSUMPTION, *SETTINGS))))
    if shared["n"] is not None:
        shared["n"] = tidy(shared["n"])
    seen = read_counts(counts)
    found: FollowUp | Plan
    if values["follow_up"] is not None:
        found = combine_follow_up(seen, values["follow_up"], asked=values["asked"], **shared)
    else:
        goal = {name: values[name] for name in (*_GOALS, "power") if values[name] is not None}
        found = plan_follow_up(seen, nonrespondents=values["nonrespondents"], **shared | goal)
    question = Question(
        shared["scale"] or Scale.points(len(seen)),
        seen,
        shared["n"],
        shared["level"],
        shared["covers"],
    )
    if values["json"]:
        click.echo(json.dumps(document(question, found)))
    else:
        _show(question, found)


_GOALS = ("width", "above", "below")


def _check_together(values: Values) -> None:
    """Refuse options that do not go together."""
    goals = [name for name in _GOALS if values[name] is not None]
    planning = [*goals, *(one for one in ("power", "nonrespondents") if values[one] is not None)]
    if values["follow_up"] is not None and planning:
        raise OptionError(
            planning[0],
            problem="{argument} and {follow_up} exclude each other",
            hint="Plan before you ask; combine the responses once you have them",
        )
    if values["follow_up"] is None and values["asked"] is not None:
        raise OptionError("asked", problem="{argument} requires {follow_up}", hint="Give both")
    if values["follow_up"] is None and len(goals) != 1:
        raise OptionError(
            goals[1] if goals else "above",
            problem="Two goals are given" if goals else "A goal is missing",
            hint="Give one of {width:0.3}, {above:4} and {below:4}, or the responses in hand with "
            "{follow_up}",
        )
    if values["width"] is not None and values["power"] is not None:
        raise OptionError(
            "power",
            problem="{argument} and {width} exclude each other",
            hint="Use {argument} with {above} or {below}",
        )


@dataclass(frozen=True)
class Question:
    """What was asked, as far as both answers repeat it."""

    scale: Scale
    counts: Sequence[float]
    n: float
    level: float
    covers: str


def document(question: Question, found: FollowUp | Plan) -> dict[str, Any]:
    """Return the JSON document of a plan or of a follow-up."""
    result: dict[str, Any] = {
        "scale": [tidy(v) for v in question.scale.values],
        "counts": [tidy(c) for c in question.counts],
        "n": tidy(question.n),
        "n_ratings": tidy(sum(question.counts)),
        "level": question.level,
        "covers": question.covers,
    }
    if isinstance(found, FollowUp):
        return result | {"assumption": found.words or None} | _without_words(asdict(found))
    now = {name: getattr(found.now, name) for name in _NUMBERS}
    return result | {
        "assumption": found.words,
        "n_nonrespondents": found.n_nonrespondents,
        "goal": found.goal,
        "target": found.target,
        "power": found.power,
        "now": now | {"notes": list(found.now.notes)},
        "scenarios": [asdict(one) for one in found.scenarios],
    }


_NUMBERS = ("estimate", "lower", "upper", "ci_lower", "ci_upper")


def _without_words(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "words"}


def _show(question: Question, found: FollowUp | Plan) -> None:
    from unheard.cli.estimate_screen import make_console, text_width

    console = make_console()
    page = Page(question, text_width(console))
    lines = page.combined(found) if isinstance(found, FollowUp) else page.planned(found)
    for line in lines:
        console.print(line, markup=False)


class Page:
    """The lines that show an answer."""

    def __init__(self, question: Question, width: int) -> None:
        self.question, self.width = question, width

    def planned(self, plan: Plan) -> Iterator[str]:
        """Yield how many to ask."""
        yield self._size(plan.n_nonrespondents)
        yield ""
        yield from self._messages(plan.now.notes)
        level = f"{self.question.level * 100:.6g}% confidence interval"
        now = self._range(plan.now.ci_lower, plan.now.ci_upper)
        yield from self._paragraph("Now:  ", f"{now} ({level}, by the assumption alone)")
        goal = f"a {level} no wider than {plan.target:.6g}"
        if plan.power is not None:
            goal = (
                f"settle whether the mean is {plan.goal} {plan.target:.6g}, with a probability of "
                f"{plan.power * 100:.6g}%"
            )
        yield from self._paragraph("Goal: ", goal)
        yield ""
        yield from self._advice(plan)
        yield ""
        yield from self._paragraph("Assumption: ", plan.words)

    def _advice(self, plan: Plan) -> Iterator[str]:
        if not plan.scenarios:
            yield "  Nobody is silent, so there is nobody to ask."
            return
        if all(one.ask == 0 for one in plan.scenarios):
            side = plan.scenarios[0].shows
            why = f"the mean is {side} {plan.target:.6g}" if side else "the interval is so narrow"
            yield from self._paragraph("", f"Nobody needs to be asked: {why} already.")
            return
        head = ["If the silent", "their mean", "mean of all", "ask", "which shows"]
        rows = [head, *(self._row(plan, one) for one in plan.scenarios)]
        right = [False, True, True, True, False]
        columns = 5 if plan.power else 4
        table = aligned([row[:columns] for row in rows], right[:columns])
        yield from (f"  {line}" for line in table)
        yield ""
        if any(one.ask is None for one in plan.scenarios):
            yield from self._paragraph("–: ", self._too_few(plan))
        if any(one.ask for one in plan.scenarios):
            yield from self._paragraph(
                "",
                f"Draw them at random from the {plan.n_nonrespondents:,} who said nothing, and see "
                "that every one of them answers. Then run this again with --follow-up and the "
                "answers.",
            )

    def _too_few(self, plan: Plan) -> str:
        words = f"Not even asking all {plan.n_nonrespondents:,} of the silent would do."
        if self.question.covers == "mean":
            words += (
                " This many people leave that much noise about the mean behind them; --covers "
                "people asks about these people only."
            )
        return words

    def _row(self, plan: Plan, one: Scenario) -> list[str]:
        lowest, *_, highest = map(write_exactly, self.question.scale.values)
        who = {
            "worst": f"all say {lowest} or {highest} (the worst case)",
            "lower": "are as low as can be",
            "estimate": "are as the estimate has them",
            "upper": "are as high as can be",
            "given": "are as you guess",
        }[one.name]
        ask = "–" if one.ask is None else f"{one.ask:,}"
        shows = f"{one.shows or 'right at'} {plan.target:.6g}"
        return [who, self._rating(one.nonrespondent_mean), self._rating(one.mean), ask, shows]

    def combined(self, found: FollowUp) -> Iterator[str]:
        """Yield what the ratings and the follow-up say together."""
        question = self.question
        yield self._size(found.n_nonrespondents)
        answered = "all" if found.n_responses == found.asked else f"{found.n_responses:,}"
        yield f"Follow-up: {found.asked:,} of the silent were asked, {answered} of them answered"
        yield ""
        yield from self._messages(found.notes)
        rows = []
        if any(question.counts):
            first = zip(question.scale.values, question.counts, strict=True)
            average = sum(v * c for v, c in first) / sum(question.counts)
            rows.append(["Average of those who answered at first", self._rating(average)])
        rows.append(["The silent, by the follow-up", self._rating(found.nonrespondent_mean)])
        rows.append(["Estimate for everybody", self._rating(found.estimate)])
        if found.words:
            rows.append(["Interval", self._range(found.lower, found.upper)])
        name = f"Confidence interval ({question.level * 100:.6g}%)"
        rows.append([name, self._range(found.ci_lower, found.ci_upper)])
        yield from (f"  {line}" for line in aligned(rows, [False, False]))
        yield ""
        if found.words:
            yield from self._paragraph("Assumption about those asked: ", found.words)
        else:
            yield from self._paragraph(
                "", "No assumption was needed: everybody who was asked has answered."
            )

    def _size(self, n_silent: int) -> str:
        n_ratings = sum(self.question.counts)
        silent = f"{n_silent:,} said nothing" if n_silent else "all of them answered"
        return (
            f"{n_ratings:,.0f} {'rating' if n_ratings == 1 else 'ratings'}, from "
            f"{self.question.n:,.0f} people; {silent}"
        )

    def _messages(self, notes: Iterable[str]) -> Iterator[str]:
        for flag in notes:
            yield from self._paragraph("Note: ", f"{NOTE_TEXTS[flag]}.")
            yield ""

    def _paragraph(self, label: str, words: str) -> Iterator[str]:
        return paragraph(words, self.width, label)

    def _rating(self, value: float) -> str:
        return rating_text(value, self.question.scale.width)

    def _range(self, low: float, high: float) -> str:
        return f"{self._rating(low)} to {self._rating(high)}"
