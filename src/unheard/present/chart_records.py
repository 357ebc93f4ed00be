"""Tidy records of each kind of result, and what they show in words; nothing is drawn here."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeAlias

import numpy as np

from unheard.analysis.compare import Comparison
from unheard.analysis.drift import Drift
from unheard.analysis.participation import Participation
from unheard.analysis.sweep import Sweep, sweep_question
from unheard.model.histograms import Histograms
from unheard.model.notes import NOTE_TEXTS
from unheard.model.question import Question
from unheard.model.results import Estimate, Result
from unheard.model.scale import Scale
from unheard.present import comparisons, participation, sweeps
from unheard.present.comparisons import WAY_WORDS
from unheard.present.estimates import NUMBERS, averages, confidence_words, numbers_document, tidy
from unheard.present.phrases import ranks_text
from unheard.present.results import tabulate
from unheard.text import plural, printable, range_text, rating_text, write_exactly

Rows: TypeAlias = list[dict[str, Any]]
Records: TypeAlias = Sequence[Mapping[str, Any]]

MOST_BARS = 240
"""Most ratings with a bar each; on a longer scale neighbours share one."""

_NAMED = 3
"""How many items the words of a ranking name."""

MOST_SAID = 12
"""A longer scale is not spelled out rating by rating."""

LEAST_Q = 0.01
"""How far down a sweep is drawn, at the least."""

_FINE = 97
"""How many q a line is drawn through."""


def share_records(counts: Histograms) -> Rows:
    """Return how often each rating of the first histogram was given; neighbours of a long scale."""
    values, cells = counts.scale.values, counts.cells[0].tolist()
    size = _per_bar(len(values))
    starts = [start for start in range(0, len(values), size) if len(values) - start >= size]
    total = math.fsum(cells)
    rows = []
    for start, end in zip(starts, [*starts[1:], len(values)], strict=True):
        count = math.fsum(cells[start:end])
        rows.append(
            {
                "part": "ratings",
                "from": tidy(values[start]),
                "to": tidy(values[end - 1]),
                "count": tidy(count),
                "share": count / total if total else 0.0,
            }
        )
    return rows


def _per_bar(m: int) -> int:
    """Choose how many ratings share a bar, so that few are left over for the last one."""
    if m <= MOST_BARS:
        return 1
    return min(range(math.ceil(m / 80), math.ceil(m / 40) + 1), key=lambda size: m % size)


def estimate_records(question: Question, estimates: Sequence[Estimate]) -> Rows:
    """Return the ratings seen, then a row for each estimate."""
    (mean,) = averages(question)
    rows = [{"part": "estimates", **numbers_document(one), "average": mean} for one in estimates]
    return [*share_records(question.counts), *rows]


def estimate_words(question: Question, estimates: Sequence[Estimate]) -> str:
    """Say what was estimated, from what, and under which assumption."""
    width, (mean,) = question.counts.scale.width, averages(question)
    ratings = plural(float(question.counts.n_ratings[0]), "rating")
    said = ["No ratings."]
    if mean is not None:
        said = [f"{ratings}, average {rating_text(mean, width)}."]
    numbers = ", ".join(f"{rating_text(one.estimate, width)} ({one.method})" for one in estimates)
    if estimates:
        said.append(f"Estimate {numbers}; {_bounds(estimates[0], question.level, width)}.")
        said += [f"Note: {NOTE_TEXTS[note]}." for note in estimates[0].notes]
    return " ".join([*said, f"Assumption: {question.words}"])


def _bounds(one: Estimate, level: float | None, width: float) -> str:
    words = f"bounds {range_text(one.lower, one.upper, width)}"
    if level is not None:
        words += f", {confidence_words(level)} {range_text(one.ci_lower, one.ci_upper, width)}"
    return words


def sweep_records(sweep: Sweep, q: float | None = None) -> Rows:
    """Return the answer for many q, those of the sweep among them, then the claim and the q chosen.

    Between the q of the sweep there are further ones, so that lines are drawn as they run and
    meet the threshold where they do.
    """
    question, claim = sweep.question, sweep.claim
    least = min(LEAST_Q, float(sweep.q.min()))
    marked = (sweep.breakdown_q, sweep.ci_breakdown_q, q)
    grid = {x for x in (*sweep.q.tolist(), *marked) if x is not None and least <= x <= 1}
    if question.counts.scale.m <= MOST_BARS:  # each q costs more, the longer the scale
        grid |= {*np.geomspace(1.0, least, _FINE).tolist()}
    fine = sweep_question(question, sorted(grid))
    rows = [{"part": "sweep", **row} for row in sweeps.tabulate(fine)]
    if claim is not None:
        rows.append(
            {"part": "claim", "above": claim.above, "threshold": claim.threshold}
            | {"breakdown_q": sweep.breakdown_q, "ci_breakdown_q": sweep.ci_breakdown_q}
        )
    if q is not None:
        rows.append({"part": "chosen", "q": q})
    return rows


def q_words(question: Question) -> tuple[str, str, str]:
    """Say what q is, as the title of an axis, and what it means at its two ends."""
    if question.assumption.per_rating:
        title = "q: how often people respond, compared with what is stated"
        return title, "as stated", "far less often"
    if question.assumption.kind == "floor":
        return "floor: least probability of responding", "everybody responds", "some hardly ever"
    title = "participation ratio q"
    return title, "all respond equally often", "some hardly ever"


def sweep_words(sweep: Sweep, rows: Rows) -> str:
    """Say how the answer changes, at which q the claim holds, and what q means."""
    width = sweep.question.counts.scale.width
    swept = [row for row in rows if row["part"] == "sweep"]
    ends = [
        f"{rating_text(row['estimate'], width)} ({range_text(row['lower'], row['upper'], width)}) "
        f"at q = {row['q']:.3g}"
        for row in (swept[0], swept[-1])
    ]
    words = f"Estimate, with bounds in brackets: {ends[0]}, {ends[1]}."
    return " ".join([words, *sweeps.list_sentences(sweep)])


def comparison_records(comparison: Comparison) -> Rows:
    """Return a row for each item, then one for each way to take the difference."""
    items = comparisons.tabulate(comparison)[:2]
    for row, one in zip(items, (comparison.a, comparison.b), strict=True):
        name = _with_few(safe_name(row["name"]), row.pop("n_ratings"), one.notes)
        row |= {"part": "items", "name": name, "notes": list(one.notes)}
    differences = (comparison.separate, comparison.shared)
    ways = [
        {"part": "differences", "name": words, **asdict(difference)}
        for words, difference in zip(WAY_WORDS.values(), differences, strict=True)
    ]
    return [*items, *ways]


def comparison_words(comparison: Comparison) -> str:
    """Say how both items are rated, by how much they differ, and what would overturn it."""
    width, level = comparison.question.counts.scale.width, comparison.question.level
    first, second = (safe_name(name) for name in comparison.names)
    said = [
        f"{name}: estimate {rating_text(one.estimate, width)}, {_bounds(one, level, width)}."
        for name, one in ((first, comparison.a), (second, comparison.b))
    ]
    named = replace(comparison, names=(first, second))
    return " ".join([*said, *comparisons.list_sentences(named)])


def ranking_records(rows: Records | Any, item: Sequence[str], top: int) -> tuple[Rows, int]:
    """Return the best rows, with their names in one column, and how many there are.

    Best first by the lower confidence limit, or by the lower bound where there is none; an item
    with few ratings has their number beside its name.

    Parameters
    ----------
    rows
        Records as ``unheard rank --json`` has them, or a frame as :func:`unheard.rank` returns it.
    item
        The columns that name an item.
    top
        How many rows at the most.
    """
    best, total = _best(rows, top)
    columns = ("n_ratings", "average", *NUMBERS, "best_rank", "worst_rank", "tier")
    named = [
        {"name": _name(row, item)}
        | {name: _number(row.get(name)) for name in columns}
        | {"notes": _notes(row.get("notes"))}
        for row in best
    ]
    return named, total


def _name(row: Mapping[str, Any], item: Sequence[str]) -> str:
    name = safe_name(", ".join("(none)" if row[x] is None else str(row[x]) for x in item))
    return _with_few(name, row["n_ratings"], _notes(row.get("notes")))


def _with_few(name: str, ratings: Any, notes: Sequence[str]) -> str:
    """Write beside a name how many ratings it rests on if they are few: bounds do not tell."""
    return f"{name} ({plural(int(ratings), 'rating')})" if "few_ratings" in notes else name


def _best(rows: Records | Any, top: int) -> tuple[Records, int]:
    if not isinstance(rows, Sequence):
        import narwhals as nw

        frame: Any = nw.from_native(rows)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        rows = frame.rows(named=True)
    return sorted(rows, key=_lowness)[:top], len(rows)


def _lowness(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return a key that sorts the best rows first: those whose mean is high for sure."""
    limit = _number(row.get("ci_lower"))
    return -float(row["lower"] if limit is None else limit), -float(row["estimate"])


def ranking_words(rows: Rows, total: int, scale: Scale) -> str:
    """Say how many items there are, name the first, and say in how many tiers they fall."""
    if not rows:
        return "No items."
    first = ", ".join(
        f"{row['name']} {rating_text(row['estimate'], scale.width)} "
        f"({range_text(row['lower'], row['upper'], scale.width)})"
        for row in rows[:_NAMED]
    )
    said = f"{plural(total, 'item')}, estimate with the interval in brackets: {first}"
    if total > _NAMED:
        said += f" and {total - _NAMED:,} more"
    tiers = {row["tier"] for row in rows} - {None}
    if tiers:
        whose = "in" if total == len(rows) else f"the first {len(rows):,} are in"
        said += f"; {whose} {plural(len(tiers), 'tier')}"
    return said + (", between which nothing can change places." if len(tiers) > 1 else ".")


def pair_records(names: Sequence[str], settled: Iterable[tuple[int, int, str, bool]]) -> Rows:
    """Return every pair of listed items: an item against one before it, and what is settled."""
    known = {(row, column): (side, firm) for row, column, side, firm in settled}
    records = []
    for row, name in enumerate(map(safe_name, names)):
        for column, other in enumerate(map(safe_name, names[:row])):
            side, firm = known.get((row, column), (None, False))
            error = "" if firm or side is None else ", ignoring sampling error"
            words = f"{name} is {side} {other}{error}" if side else f"{name} and {other}: open"
            kind = "open" if side is None else side if firm else f"{side} without error"
            records.append(
                {"row": row, "column": column, "name": name, "other": other}
                | {"kind": kind, "words": words}
            )
    return records


def pair_words(records: Rows, more: int) -> str:
    """Say how many of the pairs are settled."""
    kinds = [record["kind"] for record in records]
    firm = sum(kind in ("above", "below") for kind in kinds)
    settled = len(kinds) - kinds.count("open")
    whose = " of the items listed first" if more else ""
    return (
        f"Of {plural(len(kinds), 'pair')}{whose}, {settled:,} are in a settled order ignoring "
        f"sampling error, and {firm:,} allowing for it."
    )


def calibration_words(found: Participation) -> str:
    """Say what was found, rating by rating if they are few."""
    rows = [row for row in participation.tabulate(found) if row["g"] is not None]
    relative = "Participation, relative to the most outspoken,"
    what = relative if found.relative else "Participation"
    each = ", ".join(f"{row['g']:.2g} at {write_exactly(row['rating'])}" for row in rows)
    return f"{what} by rating: {each}. {found.words}" if len(rows) <= MOST_SAID else found.words


def drift_records(drift: Drift) -> Rows:
    """Return the windows, with what each says alone and pooled with its neighbours."""
    return [
        {
            "name": start,
            "lower": one.q_lower,
            "upper": one.q,
            "estimate": one.q,
            "ci_lower": None,
            "ci_upper": None,
            "shown": f"{one.q:.2g}" + (" (change)" if _changes(drift, w) else ""),
        }
        for w, ((start, _), one) in enumerate(zip(drift.windows, drift.pooled, strict=True))
    ]


def _changes(drift: Drift, w: int) -> bool:
    return drift.change is not None and drift.change.window == w


def range_records(result: Result) -> tuple[str, Rows]:
    """Return named rows with a range, a point or both, and the title of their axis."""
    if type(result).__name__ not in _RANGES:
        raise TypeError(f"{type(result).__name__} cannot be drawn")
    title, columns, named = _RANGES[type(result).__name__]
    tidy_rows = tabulate(result)
    if title == "rank":
        tidy_rows.sort(key=lambda row: (row["best_rank"], row["worst_rank"]))
    rows = []
    for row in tidy_rows[:_MOST_ROWS]:
        lower, upper, estimate = (row.get(column) for column in columns)
        name = ", ".join(str(row[one]) for one in named or getattr(result, "labels", ()))
        text = ranks_text(row) if title == "rank" else _point_text(estimate)
        # The intervals of plans are ratings, and the axis counts people.
        low, high = ("ci_lower", "ci_upper") if title != _TO_ASK else ("", "")
        rows.append(
            {"name": safe_name(name), "lower": lower, "upper": upper, "estimate": estimate}
            | {"ci_lower": row.get(low), "ci_upper": row.get(high), "shown": text}
        )
    return title, rows


_MOST_ROWS = 30
_TO_ASK = "people to ask"
_RANGES: dict[str, tuple[str, tuple[str, str, str], tuple[str, ...]]] = {
    "Ranking": ("rank", ("best_rank", "worst_rank", ""), ("item",)),
    "SharedRanking": ("rank", ("best_rank", "worst_rank", ""), ("item",)),
    "Plan": (_TO_ASK, ("", "", "ask"), ("name",)),
    "Plans": (_TO_ASK, ("", "", "ask"), ()),
    "FollowUp": ("rating", ("lower", "upper", "estimate"), ()),
    "ResponseRates": ("response rate", ("rate", "largest_floor", "rate"), ()),
    "AddedCounts": ("rows added", ("", "", "rows"), ("source",)),
    "Minimax": ("worst-case regret", ("lower", "upper", "upper"), ("method",)),
}
"""The title of the axis, the columns of the range and of the point, and those of the name."""


def _point_text(value: float | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def regret_records(rows: Sequence[Mapping[str, Any]]) -> Rows:
    """Return one row for each method and q; n is None for infinitely many people."""
    columns = ("method", "kind", "n", "m", "q", "regret", "standard_error", "lower_bound", "how")
    return [{name: row.get(name) for name in columns} for row in rows]


def regret_words(rows: Rows) -> str:
    """Say between what the regrets lie, method by method."""
    said = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = sorted((row["q"], row["regret"]) for row in rows if row["method"] == method)
        ends = [f"{regret:.4g} at q = {q:g}" for q, regret in dict.fromkeys((own[0], own[-1]))]
        said.append(f"{method} {', '.join(ends)}")
    people = dict.fromkeys(row["n"] for row in rows)
    sizes = ", ".join(
        "infinitely many people" if n is None else plural(n, "person", "people") for n in people
    )
    return f"Regret with {sizes}: {'; '.join(said)}."


def safe_name(name: str) -> str:
    """Write a name so that it stays on its line and in every kind of file."""
    whole = printable(name).encode("utf-8", "backslashreplace").decode()
    return _NOT_IN_XML.sub("?", whole)


_NOT_IN_XML = re.compile("[\ufffe\uffff]")


def _number(value: Any) -> Any:
    """Turn NaN, which frames put where nothing is, into None, and NumPy's numbers into Python's."""
    if value is None:
        return None
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and math.isnan(plain) else plain


def _notes(notes: Any) -> list[str]:
    return notes.split() if isinstance(notes, str) else list(notes or ())
