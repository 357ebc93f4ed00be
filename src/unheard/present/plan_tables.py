"""Plans for many items as text, documents and rows: whom to call first, and how far calls go."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from rich.text import Text

from unheard.analysis.plan import Plans
from unheard.present.estimates import note_sentences, tidy
from unheard.present.layout import Page, apart
from unheard.present.plans import goal_words
from unheard.text import name_of, percent_text, plural, range_text

_LONGEST_TABLE = 20
_LONGEST_NAME = 40
_SHORTEST_NAME = 8
_DISPENSABLE = ("if as\nestimated", "worst\ncase", "did not\nrespond", "interval\nnow")
"""Headings of columns that a narrow terminal does without, the first of them first."""

Columns: TypeAlias = "list[tuple[str, str, Callable[[dict[str, Any]], str]]]"
"""Columns on the screen: heading, side, and how to write the cell of a row."""


def write_document(plans: Plans) -> dict[str, Any]:
    """Return the JSON document of plans."""
    counted = _Counted.of(plans)
    return {
        "scale": [tidy(value) for value in plans.question.counts.scale.values],
        "assumption": plans.words,
        "level": plans.question.level,
        "covers": plans.question.covers,
        "goal": plans.goal,
        "target": plans.target,
        "power": plans.power,
        "reached": counted.reached,
        "reachable": counted.reachable,
        "unreachable": counted.unreachable,
        "ask": counted.ask,
        "budget": plans.budget,
        "calls": None if plans.calls is None else int(plans.calls.sum()),
        "reached_with_calls": counted.reached_with_calls,
        "rows": tabulate(plans),
    }


@dataclass(frozen=True)
class _Counted:
    """How many items are where, how many calls all of them need, and how far a budget goes."""

    reached: int
    reachable: int
    unreachable: int
    ask: int
    reached_with_calls: int | None

    @classmethod
    def of(cls, plans: Plans) -> _Counted:
        reached, unreachable = int((plans.ask == 0).sum()), int(np.isnan(plans.ask).sum())
        return cls(
            reached,
            len(plans.order),
            unreachable,
            int(plans.ask[plans.order].sum()),
            None if plans.calls is None else reached + int((plans.calls > 0).sum()),
        )


def tabulate(plans: Plans) -> list[dict[str, Any]]:
    """Return a row for each item: those to call in order, those that need no call, the others."""
    return list(_list_rows(plans, len(plans)))


def _list_rows(plans: Plans, most: int) -> Iterator[dict[str, Any]]:
    counts, now, status = plans.question.counts, plans.now, plans.status
    assert counts.n is not None  # planning starts from the number of people
    places = {int(row): place for place, row in enumerate(plans.order, 1)}
    last = [np.flatnonzero(status == name) for name in ("reached", "unreachable")]
    for row in np.concatenate([plans.order, *last])[:most].tolist():
        yield (
            {"priority": places.get(row)}
            | {name: column[row] for name, column in plans.labels.items()}
            | {
                "n_ratings": int(counts.n_ratings[row]),
                "n": int(counts.n[row]),
                "n_nonrespondents": int(plans.n_nonrespondents[row]),
                "estimate": float(now.estimate[row]),
                "ci_lower": float(now.ci_lower[row]),
                "ci_upper": float(now.ci_upper[row]),
                "status": str(status[row]),
                "ask": _whole(plans.ask[row]),
            }
            | {f"ask_{name}": _whole(ask[row]) for name, ask in plans.asks.items()}
            | ({} if plans.power is None else {"shows": plans.shows[row]})
            | ({} if plans.calls is None else {"calls": int(plans.calls[row])})
            | {"notes": [*now.notes[row], *(["unreachable"] if np.isnan(plans.ask[row]) else [])]}
        )


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


def list_cells(plans: Plans) -> list[list[str]]:
    """Return the first rows as a table."""
    cells, _ = _set_table(plans, _LONGEST_TABLE, _LONGEST_NAME)
    return [[cell.replace("\n", " ") for cell in cells[0]], *cells[1:]]


def _set_table(
    plans: Plans, top: int, longest_name: int, without: Collection[str] = ()
) -> tuple[list[list[str]], str]:
    """Return the cells of the first rows, and the side of each column."""
    columns = [one for one in _list_columns(plans, longest_name) if one[0] not in without]
    rows, so_far = [], 0
    for row in _list_rows(plans, top):
        so_far += row["ask"] if row["priority"] else 0
        rows.append([write(row | {"so_far": so_far}) for _, _, write in columns])
    return [[head for head, _, _ in columns], *rows], "".join(side for _, side, _ in columns)


def _list_columns(plans: Plans, longest_name: int) -> Columns:
    width = plans.question.counts.scale.width
    columns: Columns = [("no.", ">", lambda row: f"{row['priority']:,}" if row["priority"] else "")]
    columns += [
        (name_of(name, longest_name), "<", lambda row, name=name: name_of(row[name], longest_name))  # type: ignore[misc]
        for name in plans.labels
    ]
    columns += [
        ("did not\nrespond", ">", lambda row: f"{row['n_nonrespondents']:,}"),
        ("interval\nnow", "<", lambda row: range_text(row["ci_lower"], row["ci_upper"], width)),
        ("ask", ">", lambda row: _ask_text(row["ask"])),
    ]
    if plans.power is not None:
        columns.append(("which\nshows", "<", lambda row: _shows_text(plans, row)))
    elif "given" in plans.asks:
        columns.append(("worst\ncase", ">", lambda row: _ask_text(row["ask_worst"])))
    else:
        columns.append(("if as\nestimated", ">", lambda row: _ask_text(row["ask_estimate"])))
    if plans.calls is not None:
        columns.append(("calls", ">", lambda row: f"{row['calls']:,}" if row["calls"] else ""))
    else:
        columns.append(
            ("ask\nso far", ">", lambda row: f"{row['so_far']:,}" if row["priority"] else "")
        )
    columns.append(("notes", "<", lambda row: " ".join(_pick_notes(row))))
    return columns


def _pick_notes(row: dict[str, Any]) -> list[str]:
    """Return the notes to show; plans go by the confidence interval, as few_ratings advises."""
    return [note for note in row["notes"] if note != "few_ratings"]


def _ask_text(ask: int | None) -> str:
    return "–" if ask is None else f"{ask:,}"


def _shows_text(plans: Plans, row: dict[str, Any]) -> str:
    return "–" if row["ask"] is None else f"{row['shows'] or 'exactly'} {plans.target:.6g}"


def explain(plans: Plans) -> Iterator[str]:
    """Yield the goal, how many items reach it, and what the numbers mean."""
    if len(plans) > _LONGEST_TABLE:
        yield f"{plural(len(plans) - _LONGEST_TABLE, 'more row')}; to_frame() has all."
    yield f"Goal: {goal_words(plans)}, for each item."
    yield _progress_words(plans)
    if plans.budget is not None:
        yield _budget_words(plans)
    yield from _meanings(plans, _LONGEST_TABLE)
    yield f"Assumption: {plans.words}"


def _progress_words(plans: Plans) -> str:
    counted = _Counted.of(plans)
    words = f"Already reached for {counted.reached:,} of {plural(len(plans), 'item')}"
    if counted.reachable:
        calls = plural(counted.ask, "call")
        words += f"; within reach for {counted.reachable:,}, with {calls} in all"
    if counted.unreachable:
        words += f"; out of reach for {counted.unreachable:,}, even if everybody is asked"
    return f"{words}."


def _budget_words(plans: Plans) -> str:
    assert plans.calls is not None  # there is a budget
    assert plans.budget is not None
    used, helped = int(plans.calls.sum()), int((plans.calls > 0).sum())
    counted = _Counted.of(plans)
    words = (
        f"With {plural(plans.budget, 'call')}, the goal is reached for "
        f"{counted.reached_with_calls:,} of {plural(len(plans), 'item')}, {helped:,} more than now"
    )
    left = plans.budget - used
    if left:
        words += f"; {plural(left, 'call is', 'calls are')} left"
    if left and helped < len(plans.order):
        words += f", too few for the next item, which needs {plans.ask[plans.order[helped]]:,.0f}"
    return f"{words}."


def _meanings(plans: Plans, top: int) -> Iterator[str]:
    """Say what the columns mean, and how the people are to be asked."""
    whose = "exactly these people"
    if plans.question.covers == "mean":
        whose = "the population that these people come from"
    yield f"Interval: for the mean of {whose}."
    if len(plans.order):
        if plans.power is None and "given" not in plans.asks:
            yield "Ask: enough people whatever the non-respondents think (the worst case)."
        elif plans.power is None:
            yield "Ask: enough people if the non-respondents rate as you guess."
        else:
            who = "you guess" if "given" in plans.asks else "estimated"
            yield (
                f"Ask: enough people, with a probability of {percent_text(plans.power)}, if the "
                f"non-respondents rate as {who}."
            )
        yield (
            "Order: the item that needs the fewest calls comes first, and of equals the one with "
            "the widest interval, so that any number of calls takes as many items as possible to "
            "the goal. Draw the people of an item at random from its non-respondents, and make "
            "sure that all of them respond."
        )
    if plans.question.covers == "mean" and np.isnan(plans.ask).any():
        yield (
            "Where asking everybody is not enough, the sampling error of the population mean is "
            "too large; to plan for these people only, use --covers people."
        )
    shown = (note for row in _list_rows(plans, top) for note in _pick_notes(row))
    yield from note_sentences(shown)


def write_lines(plans: Plans, page: Page, top: int = _LONGEST_TABLE) -> Iterator[Text]:
    """Write plans as the terminal shows them."""
    counts = plans.question.counts
    assert counts.n is not None  # planning starts from the number of people
    size = (
        f"{plural(len(plans), 'item')}: {plural(float(counts.n_ratings.sum()), 'rating')} from "
        f"{plural(float(counts.n.sum()), 'person', 'people')}; "
        f"{plans.n_nonrespondents.sum():,} did not respond"
    )
    goal = [*page.paragraph(f"{goal_words(plans)}, for each item", "Goal:   ", indent=2)]
    goal += page.paragraph(_progress_words(plans), "Now:    ", indent=2)
    if plans.budget is not None:
        goal += page.paragraph(_budget_words(plans), "Budget: ", indent=2)
    return apart(
        page.paragraph(size),
        goal,
        _fit_table(plans, page, top),
        _more_rows(len(plans) - top, page),
        [line for words in _meanings(plans, top) for line in page.paragraph(words, indent=2)],
        page.paragraph(plans.words, "Assumption: ", indent=2),
    )


def _fit_table(plans: Plans, page: Page, top: int) -> list[Text]:
    """Set the first rows, with names as long and as many columns as the page allows."""
    tries = [(longest, 0) for longest in range(_LONGEST_NAME, _SHORTEST_NAME, -4)]
    tries += [(_SHORTEST_NAME, many) for many in range(len(_DISPENSABLE) + 1)]
    lines: list[Text] = []
    for longest, many in tries:
        cells, align = _set_table(plans, top, longest, _DISPENSABLE[:many])
        lines = [*page.table(cells, align, indent=2)]
        if max(map(len, lines)) <= page.width:
            break
    return lines


def _more_rows(more: int, page: Page) -> Iterator[Text]:
    if more > 0:
        words = f"{plural(more, 'more row')}; --top shows more, -o FILE writes all."
        yield from page.paragraph(words, indent=2)
