"""Plans for a follow-up, and follow-ups, as text, documents and rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from rich.text import Text

from unheard.analysis.follow_up import FollowUp
from unheard.analysis.plan import Plan, Plans, Scenario
from unheard.model.notes import NOTE_TEXTS
from unheard.model.question import Question
from unheard.present.estimates import (
    NUMBERS,
    averages,
    confidence_words,
    estimate_document,
    note_sentences,
    number_cells,
    numbers_document,
)
from unheard.present.layout import Page, apart
from unheard.text import percent_text, plural, range_text, rating_text, write_exactly

_NOT_ANSWERS = ("assumption", "estimates", "response")


def write_document(result: Plan | FollowUp) -> dict[str, Any]:
    """Return the JSON document of a plan or of a follow-up."""
    asked = estimate_document(result.question, [])
    document = {name: asked[name] for name in asked if name not in _NOT_ANSWERS}
    if isinstance(result, FollowUp):
        numbers = _fields(result, ("question", "words"))
        return document | {"assumption": result.words or None, **numbers}
    now = numbers_document(result.now)
    del now["method"]
    return document | {
        "assumption": result.words,
        "n_nonrespondents": result.n_nonrespondents,
        "goal": result.goal,
        "target": result.target,
        "power": result.power,
        "now": now,
        "scenarios": [asdict(one) for one in result.scenarios],
    }


def _fields(result: FollowUp, without: tuple[str, ...]) -> dict[str, Any]:
    fields = {name: getattr(result, name) for name in result.__dataclass_fields__}
    return {name: value for name, value in fields.items() if name not in without}


def tabulate(result: Plan | FollowUp) -> list[dict[str, Any]]:
    """Return a row for each scenario; of a follow-up, one row."""
    if isinstance(result, FollowUp):
        return [_fields(result, ("question", "words")) | {"notes": list(result.notes)}]
    return [asdict(one) | {"nonrespondents": list(one.nonrespondents)} for one in result.scenarios]


def list_cells(result: Plan | FollowUp) -> list[list[str]]:
    """Return the numbers as a table."""
    width = result.question.counts.scale.width
    if isinstance(result, Plan):
        head = ["If non-respondents", "their mean", "mean of all", "ask", "which shows"]
        columns = 5 if result.power else 4
        rows = [head, *(_scenario_cells(result, one) for one in result.scenarios)]
        return [row[:columns] for row in rows]
    rows = []
    (mean,) = averages(result.question)
    if mean is not None:
        rows.append(["Average of the first respondents", rating_text(mean, width)])
    rows.append(
        ["Non-respondents, from the follow-up", rating_text(result.nonrespondent_mean, width)]
    )
    names = ["Estimate for everybody", "Bounds", _interval(result.question)]
    cells = [
        *zip(names, number_cells([getattr(result, one) for one in NUMBERS], width), strict=True)
    ]
    if not result.words:
        del cells[1]
    return [["", "rating"], *rows, *map(list, cells)]


def _interval(question: Question) -> str:
    return confidence_words(question.level)


def _scenario_cells(plan: Plan, one: Scenario) -> list[str]:
    scale = plan.question.counts.scale
    low, high = write_exactly(scale.lowest), write_exactly(scale.highest)
    who = {
        "worst": f"all rate {low} or {high} (the worst case)",
        "lower": "rate as low as possible",
        "estimate": "rate as estimated",
        "upper": "rate as high as possible",
        "given": "rate as you guess",
    }[one.name]
    ask = "–" if one.ask is None else f"{one.ask:,}"
    shows = "–" if one.ask is None else f"{one.shows or 'exactly'} {plan.target:.6g}"
    means = (rating_text(mean, scale.width) for mean in (one.nonrespondent_mean, one.mean))
    return [who, *means, ask, shows]


def explain(result: Plan | FollowUp) -> Iterator[str]:
    """Yield the goal or the response, what the notes mean, and the assumption."""
    if isinstance(result, Plan):
        yield f"Goal: {goal_words(result)}."
        yield from note_sentences(result.now.notes)
        yield f"Assumption: {result.words}"
    else:
        yield f"{_response(result)}."
        yield from note_sentences(result.notes)
        yield f"Assumption about the people asked: {result.words}" if result.words else _COMPLETE


_COMPLETE = "No assumption is needed: everybody who was asked responded."


def write_lines(result: Plan | FollowUp, page: Page) -> Iterator[Text]:
    """Write a plan or a follow-up as the terminal shows it."""
    return _plan_lines(result, page) if isinstance(result, Plan) else _follow_up_lines(result, page)


def _plan_lines(plan: Plan, page: Page) -> Iterator[Text]:
    now = range_text(plan.now.ci_lower, plan.now.ci_upper, plan.question.counts.scale.width)
    interval = f"{now} ({_interval(plan.question)}, from the assumption alone)"
    goal = [*page.paragraph(interval, "Now:  ", indent=2)]
    goal += page.paragraph(goal_words(plan), "Goal: ", indent=2)
    return apart(
        [_size(plan.question, plan.n_nonrespondents)],
        *_notes(plan.now.notes, page),
        goal,
        *_advice(plan, page),
        page.paragraph(plan.words, "Assumption: ", indent=2),
    )


def goal_words(plan: Plan | Plans) -> str:
    """Say what a plan is for."""
    if plan.power is None:
        return f"a {_interval(plan.question)} no wider than {plan.target:.6g}"
    return (
        f"settle whether the mean is {plan.goal} {plan.target:.6g}, with a probability of "
        f"{percent_text(plan.power)}"
    )


def _advice(plan: Plan, page: Page) -> Iterator[Iterable[Text]]:
    asks = [one.ask for one in plan.scenarios]
    if not plan.scenarios:
        yield page.paragraph("Everybody responded, so there is nobody to ask.", indent=2)
        return
    if not any(ask is None or ask for ask in asks):
        side = plan.scenarios[0].shows
        why = f"the mean is {side} {plan.target:.6g}" if side else "the interval is narrow enough"
        yield page.paragraph(f"Nobody needs to be asked: {why} already.", indent=2)
        return
    cells = list_cells(plan)
    yield page.table(cells, "<>>><"[: len(cells[0])], indent=2)
    if None in asks:
        yield page.paragraph(_too_few(plan), "–: ", indent=2)
    if any(asks):
        yield page.paragraph(
            f"Draw them at random from the {plan.n_nonrespondents:,} non-respondents, and make "
            "sure that all of them respond. Then run this again with --follow-up and their "
            "ratings.",
            indent=2,
        )


def _too_few(plan: Plan) -> str:
    words = f"Asking all {plan.n_nonrespondents:,} non-respondents is not enough."
    if plan.question.covers == "mean":
        n = plan.question.counts.n
        assert n is not None  # planning starts from the number of people
        words += (
            " With this many people, the sampling error of the population mean is too large; to "
            f"reach the goal for these {plural(float(n[0]), 'person', 'people')} only, add "
            "--covers people."
        )
    return words


def _follow_up_lines(result: FollowUp, page: Page) -> Iterator[Text]:
    head = [
        _size(result.question, result.n_nonrespondents),
        Text(f"Follow-up: {_response(result)}"),
    ]
    table = page.table(list_cells(result)[1:], "<<", indent=2, headed=False)
    words = page.paragraph(_COMPLETE, indent=2)
    if result.words:
        words = page.paragraph(result.words, "Assumption about the people asked: ", indent=2)
    return apart(head, *_notes(result.notes, page), table, words)


def _response(result: FollowUp) -> str:
    responded = "all" if result.n_responses == result.asked else f"{result.n_responses:,}"
    return f"{plural(result.asked, 'non-respondent')} asked, of whom {responded} responded"


def _size(question: Question, n_nonrespondents: int) -> Text:
    counts = question.counts
    assert counts.n is not None  # planning starts from the number of people
    people = plural(float(counts.n[0]), "person", "people")
    others = (
        f"{n_nonrespondents:,} did not respond" if n_nonrespondents else "all of them responded"
    )
    return Text(f"{plural(float(counts.n_ratings[0]), 'rating')} from {people}; {others}")


def _notes(notes: Iterable[str], page: Page) -> Iterator[Iterable[Text]]:
    for note in notes:
        yield page.paragraph(f"{NOTE_TEXTS[note]}.", "Note: ", "bold red", indent=2)
