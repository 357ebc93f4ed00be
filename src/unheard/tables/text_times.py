"""Times that are text: only those that sort by time as they sort by letter, and that are dates."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from sqlglot import exp

from unheard.errors import DataError
from unheard.tables.request import Request
from unheard.tables.row_examples import EXAMPLES, write_briefly
from unheard.tables.sources.open import Opened
from unheard.tables.sql.dialects import column
from unheard.tables.sql.expressions import number
from unheard.tables.sql.reserved_names import reserve

_MOST_WAYS = 1000
"""More ways to write a time than this are not looked at."""

_MOST_DAYS = 100_000

_ISO = re.compile(
    r"0{4}-00-00(?:[ T]00:00(?::00(?P<fraction>[.,]0+)?)?(?P<zone>Z|[+-]00:?(?:00)?)?)?"
)
"""A date, or a date and a time, with every digit written as 0."""

_ISO_OR_NUMBER = re.compile(rf"{_ISO.pattern}|0+(?:\.0+)?")

_HINT = (
    "Write them as in 2024-01-31 or 2024-01-31 09:00:00, year first and all in the same way, or "
    "store them as dates or times"
)


def check_text_times(request: Request, opened: Opened) -> None:
    """Raise if times are text that would be put in a wrong order, or that is not a date."""
    orders = request.keeps_latest or request.by_experience
    name = request.time
    if name is None or not (orders or request.window):
        return
    kind = opened.kinds.get(name)
    # Windows leave out what is not a date, and so it is refused.
    declared = kind == "time" and opened.engine.times_are_text and orders
    if kind != "text" and not declared:
        return
    ways = _find_ways(opened, name)
    sorts = _ISO_OR_NUMBER if declared else _ISO
    unclear = {way: ways[way] for way in ways if not sorts.fullmatch(way)}
    if unclear:
        raise _refuse(opened, name, "are text, but not ISO 8601 dates or times", unclear)
    if orders and len({_as_sorted(way) for way in ways}) > 1:
        raise _refuse(opened, name, "are text in several formats", ways)
    zones = {way: len(way) - len(_zone(way)) for way in ways if _zone(way) not in ("", "Z")}
    if orders and len(_find_ends(opened, name, zones)) > 1:
        raise _refuse(opened, name, "are text in several time zones", ways)
    if request.window is not None and not declared:
        wrong = [day for day in _find_days(opened, name) if not _is_day(day)]
        if wrong:
            raise _refuse(
                opened,
                name,
                "are text that is not a valid date",
                dict(zip(wrong, wrong, strict=True)),
            )


def _as_sorted(way: str) -> str:
    """Write a way so that times written in two ways that are alike sort by letter."""
    found = _ISO.fullmatch(way)
    if found is None:
        return "a number"  # all others are refused
    # A fraction sorts behind nothing and behind a sign, but before a Z.
    fraction = found["fraction"] if found["zone"] != "Z" else None
    return way.replace(fraction, "") if fraction else way


def _zone(way: str) -> str:
    found = _ISO.fullmatch(way)
    return (found and found["zone"]) or ""


def _text(name: str) -> exp.Expr:
    return exp.cast(column(name), "text")


def _find_ways(opened: Opened, name: str) -> dict[str, str]:
    """Return the ways in which times are written, every digit as 0, each with an example."""
    way, example = _text(name), reserve("example")
    for digit in "123456789":
        way = exp.func("replace", way, exp.Literal.string(digit), exp.Literal.string("0"))
    shown = [exp.alias_(way, reserve("way")), exp.alias_(exp.Min(this=_text(name)), example)]
    query = exp.select(*shown).from_(opened.relation.copy()).group_by(way.copy())
    query = query.where(column(name).is_(exp.null()).not_()).limit(_MOST_WAYS)
    return {row[reserve("way")]: row[example] for row in opened.engine.rows(query)}


def _find_ends(opened: Opened, name: str, zones: Mapping[str, int]) -> set[str]:
    """Return how times end that are as long as these, from some character on."""
    ends = set[str]()
    for way, start in zones.items():
        end = exp.func("substr", _text(name), number(start + 1))
        query = exp.select(exp.alias_(end, reserve("end"))).distinct().from_(opened.relation.copy())
        long = exp.EQ(this=exp.Length(this=_text(name)), expression=number(len(way)))
        ends |= {row[reserve("end")] for row in opened.engine.rows(query.where(long).limit(2))}
    return ends


def _find_days(opened: Opened, name: str) -> Collection[str]:
    day = exp.func("substr", _text(name), number(1), number(10))
    query = exp.select(exp.alias_(day, reserve("day"))).distinct().from_(opened.relation.copy())
    query = query.where(column(name).is_(exp.null()).not_()).limit(_MOST_DAYS)
    return sorted(row[reserve("day")] for row in opened.engine.rows(query))


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return text.startswith("0000")  # refused with the days beyond the calendar
    return True


def _refuse(opened: Opened, name: str, what: str, found: Mapping[str, Any]) -> DataError:
    return DataError(
        "time",
        problem="The times in {column} of {table} {what}, such as {shown}",
        hint=_HINT,
        code="unclear_times",
        column=repr(name),
        table=opened.words,
        what=what,
        shown=", ".join(map(write_briefly, sorted({*found.values()})[:EXAMPLES])),
    )
