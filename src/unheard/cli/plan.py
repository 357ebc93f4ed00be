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
from unheard.cli.options import (
    assumption_options,
    covers_option,
    json_option,
    level_option,
    read_counts,
    read_level,
    scale_option,
    stated_assumption,
)
from unheard.errors import CountsError, InputError, OptionError, PopulationError
from unheard.model.notes import NOTE_TEXTS
from unheard.model.parsing import number, numbers
from unheard.model.scale import Scale
from unheard.present.estimate_json import tidy
from unheard.text import rating_text, write_exactly


@click.command(
    # A negative count looks like an option; read_counts tells the two apart.
    context_settings={"ignore_unknown_options": True},
)
@click.argument("counts", nargs=-1)
@click.option("--n", metavar="N", help="How many people there are, silent ones included. Required.")
@click.option("--width", metavar="W", help="Goal: a confidence interval no wider than this.")
@click.option("--above", metavar="T", help="Goal: settle whether the mean lies above T.")
@click.option("--below", metavar="T", help="Goal: settle whether the mean lies below T.")
@click.option(
    "--power",
    metavar="P",
    help="Probability with which the answers shall settle --above or --below. By default 0.8.",
)
@click.option(
    "--silent",
    metavar="COUNTS",
    help="Your own guess at the ratings of the silent, as counts or shares with commas between "
    "them; by default whatever the assumption allows.",
)
@click.option(
    "--follow-up",
    metavar="COUNTS",
    help="Instead of a goal: the answers in hand, as counts with commas between them, of people "
    "drawn at random from those who said nothing at first.",
)
@click.option(
    "--asked",
    metavar="K",
    help="How many were drawn for --follow-up, if not all of them answered; the assumption is then "
    "about them.",
)
@assumption_options
@scale_option
@level_option
@covers_option
@json_option
def plan(
    counts: tuple[str, ...],
    n: str | None,
    width: str | None,
    above: str | None,
    below: str | None,
    power: str | None,
    silent: str | None,
    follow_up: str | None,
    asked: str | None,
    level: str,
    covers: str,
    as_json: bool,
    **assumption: Any,
) -> None:
    """Plan whom to ask: how many of the people who said nothing settle the matter.

    COUNTS is how often each rating was given, lowest first. With the answers in hand, --follow-up
    puts the two together.

    \b
    Examples:
      unheard plan 120 30 45 200 605 --n 2400 --q 0.3 --width 0.3
      unheard plan 120 30 45 200 605 --n 2400 --q 0.3 --above 4 --power 0.9
      unheard plan 120 30 45 200 605 --n 2400 --follow-up 3,1,4,6,2
      unheard plan 120 30 45 200 605 --n 2400 --follow-up 3,1,4,6,2 --asked 30 --q 0.3
    """
    goals = {"width": width, "above": above, "below": below}
    _check_together({**goals, "power": power, "silent": silent}, follow_up, asked)
    shared: dict[str, Any] = {
        "n": None if n is None else tidy(number(n, "--n", PopulationError)),
        "level": read_level(level),
        "covers": covers,
        **stated_assumption(assumption),
    }
    seen = read_counts(counts)
    found: FollowUp | Plan
    if follow_up is not None:
        found = _combined(seen, follow_up, asked, shared)
    else:
        wanted = {**goals, "power": power}
        settings = {
            name: number(text, f"--{name}", OptionError)
            for name, text in wanted.items()
            if text is not None
        }
        guess = None if silent is None else numbers(silent, "--silent", CountsError)
        found = plan_follow_up(seen, nonrespondents=guess, **shared | settings)
    question = Question(
        _scale(shared["scale"], len(seen)),
        seen,
        shared["n"],
        shared["level"],
        covers,
    )
    if as_json:
        click.echo(json.dumps(document(question, found)))
    else:
        _show(question, found)


def _scale(stated: Scale | str | None, m: int) -> Scale:
    if isinstance(stated, str):
        return Scale.parse(stated)
    return Scale.points(m) if stated is None else stated


def _combined(
    seen: Sequence[float], answers: str, asked: str | None, shared: dict[str, Any]
) -> FollowUp:
    given = numbers(answers, "--follow-up", CountsError)
    drawn: Any = None if asked is None else tidy(number(asked, "--asked", PopulationError))
    try:
        return combine_follow_up(seen, given, asked=drawn, **shared)
    except InputError as error:
        # The library calls them answers, the command line --follow-up.
        raise (error.about("follow_up") if error.argument == "answers" else error) from None


def _check_together(
    planning: dict[str, str | None], follow_up: str | None, asked: str | None
) -> None:
    """Refuse options that say nothing to each other."""
    given = [f"--{name}" for name, text in planning.items() if text is not None]
    if follow_up is not None and given:
        raise OptionError(
            "--follow-up",
            f"given together with {' and '.join(given)}",
            "Plan before you ask, or put the answers together once you have them",
        )
    if follow_up is None and asked is not None:
        raise OptionError(
            "--asked", "given without answers", "Give the answers as well, by --follow-up"
        )
    goals = [name for name in given if name in ("--width", "--above", "--below")]
    if follow_up is None and len(goals) != 1:
        raise OptionError(
            "goal",
            f"{' and '.join(goals)} given together" if goals else "none given",
            "Give one of --width 0.3, --above 4 and --below 4, or the answers in hand by "
            "--follow-up",
        )
    if "--width" in given and "--power" in given:
        raise OptionError("--power", "given together with --width", "It goes with a claim only")


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
