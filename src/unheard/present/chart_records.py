"""Tidy records of each kind of result, and what they show in words; nothing is drawn here."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from unheard.analysis.breakdown import Claim
from unheard.analysis.calibrate import Audit
from unheard.analysis.compare import Comparison
from unheard.analysis.sweep import Sweep, sweep_question
from unheard.formulas.bounds import average
from unheard.formulas.operations import NUMPY
from unheard.model.histograms import Histograms
from unheard.model.notes import NOTE_TEXTS
from unheard.model.question import Question
from unheard.model.results import Estimate
from unheard.model.scale import Scale
from unheard.present.decision_json import comparison_document, sweep_document
from unheard.present.estimate_json import estimate_document, tidy
from unheard.present.sentences import comparison_sentences, sweep_sentences
from unheard.text import plural, printable, range_text, rating_text, write_exactly

Rows: TypeAlias = list[dict[str, Any]]
Records: TypeAlias = Sequence[Mapping[str, Any]]

MOST_BARS = 240
"""Up to so many ratings have a bar each; of a longer scale neighbours share one."""

NUMBERS = ("estimate", "lower", "upper", "ci_lower", "ci_upper")
"""Columns of everything that has an interval."""

_NAMED = 3
"""How many items the words of a ranking name."""

MOST_SAID = 12
"""A longer scale is not spelled out rating by rating."""

LEAST_Q = 0.01
"""How far down a sweep is drawn, at the least."""

_FINE = 97
"""How many q a line is drawn through."""

WAY_WORDS = {"separate": "each its own participation", "shared": "one shared participation"}
"""The two ways to take a difference."""


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


def averages(question: Question) -> list[float | None]:
    """Return the plain average of each histogram; None where nobody answered."""
    counts = question.counts
    columns = list(np.asarray(counts.cells.T, np.float64))
    with np.errstate(invalid="ignore"):
        found = average(columns, counts.scale.values, NUMPY)
    return [None if math.isnan(x) else float(x) for x in found]


def estimate_records(question: Question, found: Sequence[Estimate]) -> Rows:
    """Return the ratings seen, then a row for each estimate."""
    (mean,) = averages(question)
    rows = estimate_document(question, [_plain(one) for one in found])["estimates"]
    return [
        *share_records(question.counts),
        *({"part": "estimates", **row, "average": mean} for row in rows),
    ]


def estimate_words(question: Question, found: Sequence[Estimate]) -> str:
    """Say what was estimated, from what, and under which assumption."""
    width, (mean,) = question.counts.scale.width, averages(question)
    seen = float(question.counts.n_ratings[0])
    ratings = plural(int(seen), "rating") if seen.is_integer() else f"{seen:,.2f} ratings"
    rated = mean is not None
    said = [f"{ratings}, average {rating_text(mean, width)}." if rated else "No ratings."]
    plain = [_plain(one) for one in found]
    estimates = ", ".join(f"{rating_text(one.estimate, width)} ({one.method})" for one in plain)
    if plain:
        said.append(f"Estimate {estimates}; {_intervals(plain[0], question.level, width)}.")
        said += [f"Note: {NOTE_TEXTS[flag]}." for flag in plain[0].notes]
    return " ".join([*said, f"Assumption: {question.words}"])


def _plain(one: Estimate) -> Estimate:
    """Return an estimate for one histogram in numbers, also if it was asked as a row of many."""
    if np.ndim(one.estimate) == 0:
        return one
    columns = {name: getattr(one, name) for name in NUMBERS}
    numbers: dict[str, Any] = {
        name: None if column is None else float(column[0]) for name, column in columns.items()
    }
    return replace(one, **numbers, notes=one.notes[0])


def _intervals(one: Any, level: float | None, width: float) -> str:
    words = f"interval {range_text(one.lower, one.upper, width)}"
    if level is not None:
        words += f", {confidence_words(level)} {range_text(one.ci_lower, one.ci_upper, width)}"
    return words


def confidence_words(level: float | None) -> str:
    """Name the confidence interval, with its level if that is known."""
    return "confidence interval" if level is None else f"{level * 100:.6g}% confidence interval"


def sweep_records(
    question: Question,
    sweep: Sweep,
    claim: Claim | None = None,
    broken: Sequence[float] | None = None,
    q: float | None = None,
) -> Rows:
    """Return the answer for many q, those of the sweep among them, then the claim and the q chosen.

    Between the q of the sweep there are further ones, so that lines are drawn as they run and
    meet the threshold where they do.
    """
    least = min(LEAST_Q, float(sweep.q.min()))
    asked = [*sweep.q.tolist(), *(broken or ()), *(() if q is None else (q,))]
    grid = {x for x in asked if least <= x <= 1}
    if question.counts.scale.m <= MOST_BARS:  # each q costs more, the longer the scale
        grid |= {*np.geomspace(1.0, least, _FINE).tolist()}
    rows = sweep_rows(question, sweep_question(question, sorted(grid)))
    if claim is not None and broken is not None:
        plain, noisy = (_number(x) for x in broken)
        rows.append(
            {"part": "claim", "above": claim.above, "threshold": claim.threshold}
            | {"breakdown_q": plain, "ci_breakdown_q": noisy}
        )
    if q is not None:
        rows.append({"part": "chosen", "q": q})
    return rows


def sweep_rows(question: Question, sweep: Sweep) -> Rows:
    """Return the answer for each q of a sweep."""
    document = sweep_document(question, sweep, None, None)
    return [{"part": "sweep", **row} for row in document["rows"]]


def q_words(question: Question) -> tuple[str, str, str]:
    """Say what q is, as the title of an axis, and what it means at its two ends."""
    if question.assumption.per_rating:
        title = "q: how often people respond, compared with what is stated"
        return title, "as stated", "far less often"
    if question.assumption.kind == "floor":
        return "floor: least probability to respond", "everybody responds", "some hardly ever"
    title = "q: least over greatest participation"
    return title, "all respond equally often", "some hardly ever"


def sweep_words(
    question: Question,
    rows: Rows,
    claim: Claim | None = None,
    broken: Sequence[float] | None = None,
) -> str:
    """Say how the answer changes, what q means, and what would overturn the claim."""
    width = question.counts.scale.width
    swept = [row for row in rows if row["part"] == "sweep"]
    ends = [
        f"{rating_text(row['estimate'], width)} ({range_text(row['lower'], row['upper'], width)}) "
        f"at q = {row['q']:.3g}"
        for row in (swept[0], swept[-1])
    ]
    return " ".join(
        [
            f"Estimate, and in brackets the interval: {ends[0]}, {ends[1]}.",
            *sweep_sentences(question, claim, broken),
        ]
    )


def comparison_records(comparison: Comparison, names: tuple[str, str]) -> Rows:
    """Return a row for each item, then one for each way to take the difference."""
    document, means = comparison_document(comparison, names), averages(comparison.question)
    seen = dict(zip("ab", comparison.question.counts.n_ratings, strict=True))
    items = [
        {
            "part": "items",
            "name": _with_few(safe_name(document[key]["name"]), seen[key], document[key]["notes"]),
        }
        | {name: document[key][name] for name in NUMBERS}
        | {"average": mean, "notes": document[key]["notes"]}
        for key, mean in zip("ab", means, strict=True)
    ]
    ways = [
        {"part": "differences", "name": words, **document[way]} for way, words in WAY_WORDS.items()
    ]
    return [*items, *ways]


def comparison_words(comparison: Comparison, names: tuple[str, str]) -> str:
    """Say how both items are rated, by how much they differ, and what would overturn it."""
    width, level = comparison.question.counts.scale.width, comparison.question.level
    shown = tuple(safe_name(name) for name in names)
    said = [
        f"{name}: estimate {rating_text(one.estimate, width)}, {_intervals(one, level, width)}."
        for name, one in zip(shown, (comparison.a, comparison.b), strict=True)
    ]
    return " ".join([*said, *comparison_sentences(comparison, (shown[0], shown[1]))])


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


def calibration_records(audit: Audit) -> Rows:
    """Return, for each rating, who was audited, who answered, and participation with its box."""
    return [
        {
            "rating": tidy(value),
            "audited": float(audit.truth[:, r].sum()),
            "answers": float(audit.observed[:, r].sum()),
            "g": _number(audit.g[r]),
            "g_lower": float(audit.g_lower[r]),
            "g_upper": float(audit.g_upper[r]),
        }
        for r, value in enumerate(audit.scale.values)
    ]


def calibration_words(audit: Audit) -> str:
    """Say what was found, rating by rating if they are few."""
    rows = [row for row in calibration_records(audit) if row["g"] is not None]
    what = "Assumption" if audit.paired else "Participation, relative to the most outspoken,"
    each = ", ".join(f"{row['g']:.2g} at {write_exactly(row['rating'])}" for row in rows)
    return f"{what} by rating: {each}. {audit.words}" if len(rows) <= MOST_SAID else audit.words


def regret_records(rows: Sequence[Mapping[str, Any]]) -> Rows:
    """Return one row for each method and q; n is None for endless people."""
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
    whom = ", ".join("endless people" if n is None else plural(n, "person") for n in people)
    return f"Regret with {whom.replace('persons', 'people')}: {'; '.join(said)}."


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
