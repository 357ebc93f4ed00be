"""Several counts in one sum: the fast ways of DuckDB and of Spark to count ratings.

Each rating is looked up in a list of powers of two, and one sum of these holds several counts side
by side, 20 or 30 bits each. The number of values looked up is counted too, so the first count
follows by subtraction, and ratings off the list, which are null, show as a difference to the number
of rows. A count that outgrows its bits would run into its neighbour, so :attr:`Packing.most` says
up to how many ratings of an item the result is exact.

Spark has no fast lists, and looks at every sum of whole numbers for overflow. Sums in double
precision are faster there, and exact where they hold two counts of 26 bits (:func:`pair_counts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from sqlglot import exp

from unheard.model.scale import Scale
from unheard.tables.request import Kind
from unheard.tables.sql.dialects import column
from unheard.tables.sql.expressions import number
from unheard.tables.sql.reserved_names import reserve
from unheard.text import write_exactly

PackedAs: TypeAlias = Literal["lists", "pairs"]
"""The fast way that an engine has."""

MOST_IN_PAIRS = 2**26 - 1
"""Up to how many rows of an item no count can run into the other of its pair."""

_FIELDS = 4
_WIDEST_LIST = 1000


def packed_total(index: int) -> str:
    """Name of the number of ratings of one rating column."""
    return reserve(f"packed_{index}_total")


@dataclass(frozen=True)
class Packing:
    """How one rating column is packed.

    Attributes
    ----------
    position
        Where a rating stands in the lists, counted from 1; null or off the list if it is none.
    places
        For each position the index of its value on the scale, None if it has none.
    m
        Number of values.
    """

    position: exp.Expr
    places: tuple[int | None, ...]
    m: int

    @property
    def _sums(self) -> int:
        return max(1, -(-(self.m - 1) // _FIELDS))

    @property
    def _fields(self) -> int:
        """Counts side by side in one sum; all but the first of the scale are in one."""
        return max(1, -(-(self.m - 1) // self._sums))

    @property
    def _bits(self) -> int:
        # The list holds 64-bit numbers, so the highest field starts at bit 60 at the latest.
        return min(30, 60 // max(1, self._fields - 1))

    @property
    def most(self) -> int:
        """Up to how many ratings of one item no count can run into the next."""
        return int(2**self._bits - 1)

    def _lookup(self, which: int) -> exp.Expr:
        powers: list[exp.Expr] = []
        for place in self.places:
            if place is None:
                powers.append(exp.null())
                continue
            owner, field = divmod(place - 1, self._fields)
            power = 2 ** (self._bits * field) if place and owner == which else 0
            powers.append(exp.Literal.number(power))
        # Position 0 and positions off the list give null.
        return _call("list_extract", _list(powers, "bigint[]"), self.position.copy())

    def columns(self, index: int) -> tuple[list[exp.Expr], list[exp.Expr]]:
        """Return the packed aggregates, and the counts unpacked from them."""
        inner: list[exp.Expr] = []
        counts: list[exp.Expr] = []
        for which in range(self._sums):
            total = exp.Coalesce(
                this=exp.Sum(this=self._lookup(which)), expressions=[exp.Literal.number(0)]
            )
            inner.append(exp.alias_(total, reserve(f"packed_{index}_{which}")))
        inner.append(exp.alias_(exp.Count(this=self._lookup(0)), packed_total(index)))
        for place in range(1, self.m):
            which, field = divmod(place - 1, self._fields)
            counts.append(self._unpack(reserve(f"packed_{index}_{which}"), field, which))
        first: exp.Expr = column(packed_total(index))
        for count in counts:
            first = first - count.copy()
        return inner, [first, *counts]

    def _unpack(self, packed: str, field: int, which: int) -> exp.Expr:
        shifted = exp.BitwiseRightShift(
            this=column(packed), expression=exp.Literal.number(self._bits * field)
        )
        last = min(self._fields, self.m - 1 - which * self._fields) - 1
        value = (
            exp.cast(exp.paren(shifted), "bigint")
            if field == last
            else exp.cast(
                exp.paren(
                    exp.BitwiseAnd(
                        this=exp.paren(shifted), expression=exp.Literal.number(2**self._bits - 1)
                    )
                ),
                "bigint",
            )
        )
        return value


def pair_counts(
    conditions: Sequence[exp.Expr], index: int
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """Return sums of two counts each, and the counts unpacked from them.

    The last of the counts is that of all rows. It is exact, or at least too large, wherever another
    one has run into its neighbour: double precision loses small parts of large numbers, not large.

    Parameters
    ----------
    conditions
        What holds where a rating is each value of the scale.
    index
        The place of the rating column among several.
    """
    zero, one, high = (exp.cast(number(n), "double") for n in (0, 1, MOST_IN_PAIRS + 1))
    inner: list[exp.Expr] = []
    counts: list[exp.Expr] = []
    for place in range(0, len(conditions) + 1, 2):
        pair = conditions[place : place + 2]
        if len(pair) == 2:
            packed: exp.Expr = _case((pair[0], one), (pair[1], high), otherwise=zero)
        else:
            packed = _case(*((first, one + high) for first in pair), otherwise=high)
        name = reserve(f"packed_{index}_{place}")
        inner.append(exp.alias_(exp.Sum(this=packed), name))
        whole = exp.cast(column(name), "bigint")
        bits = exp.Literal.number(MOST_IN_PAIRS.bit_length())
        if pair:
            low = exp.BitwiseAnd(this=whole, expression=exp.Literal.number(MOST_IN_PAIRS))
            counts.append(exp.paren(low))
        counts.append(exp.paren(exp.BitwiseRightShift(this=whole.copy(), expression=bits)))
    return inner, counts


def _case(*branches: tuple[exp.Expr, exp.Expr], otherwise: exp.Expr) -> exp.Expr:
    if not branches:
        return otherwise.copy()
    case = exp.case()
    for condition, value in branches:
        case = case.when(condition, value.copy())
    return case.else_(otherwise.copy())


def packing(scale: Scale, name: str, kind: Kind) -> Packing | None:
    """Return how to look a rating up in a list; None where no list would do."""
    if kind == "text":
        spelled = [(way, place) for place, v in enumerate(scale.values) for way in spellings(v)]
        words = exp.Array(expressions=[exp.Literal.string(way) for way, _ in spelled])
        found = _call("list_position", words, exp.Trim(this=column(name)))
        return Packing(found, tuple(place for _, place in spelled), scale.m)
    places = _grid(scale)
    if places is None:
        return None
    lowest, step = scale.lowest, min(b - a for a, b in pairwise(scale.values))
    if kind == "whole" and step == 1 and lowest.is_integer():
        # A negative position would count from the end of the list, and no type of whole numbers
        # larger than this can be a position.
        rating: exp.Expr = exp.TryCast(
            this=exp.Greatest(this=column(name), expressions=[number(0)]),
            to=exp.DataType.build("bigint"),
        )
        if lowest != 1:
            inside = exp.Between(this=column(name), low=number(lowest), high=number(scale.highest))
            shifted = exp.cast(column(name), "bigint") - number(lowest - 1)
            rating = exp.case().when(inside, shifted)
        return Packing(rating, places, scale.m)
    steps = exp.Div(
        this=exp.paren(column(name) - number(lowest)), expression=number(step), typed=True
    )
    nearest = exp.TryCast(this=exp.Round(this=steps + number(1)), to=exp.DataType.build("bigint"))
    guess = exp.Greatest(this=nearest, expressions=[number(0)])
    # The guess counts only if the value in its place is the rating itself.
    values = [exp.null() if place is None else number(scale.values[place]) for place in places]
    precision = "float[]" if kind == "single" else "double[]"
    there = _call("list_extract", _list(values, precision), guess)
    same = exp.EQ(this=there, expression=column(name))
    return Packing(exp.case().when(same, guess.copy()), places, scale.m)


def _grid(scale: Scale) -> tuple[int | None, ...] | None:
    """Lay a scale on a grid of equal steps, if it fits a short one."""
    values, step = scale.values, min(b - a for a, b in pairwise(scale.values))
    size = round(scale.width / step) + 1
    spots = [round((value - values[0]) / step) for value in values]
    fits = all(
        abs(values[0] + spot * step - v) < 1e-9 * step
        for spot, v in zip(spots, values, strict=True)
    )
    if not fits or size > _WIDEST_LIST:
        return None
    places: list[int | None] = [None] * size
    for place, spot in enumerate(spots):
        places[spot] = place
    return tuple(places)


def _call(function: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=function, expressions=list(arguments))


def _list(values: list[exp.Expr], kind: str) -> exp.Expr:
    return exp.cast(exp.Array(expressions=values), exp.DataType.build(kind, dialect="duckdb"))


def spellings(value: float) -> list[str]:
    """How a rating may be written as text: 4, 4.0 or 4.00."""
    ways = (write_exactly(value), f"{value:g}", repr(float(value)), f"{value:.1f}", f"{value:.2f}")
    return [way for way in dict.fromkeys(ways) if float(way) == value]
