"""What a run says about its rows: what was done to them, and what looks unlike what was asked."""

from __future__ import annotations

import re
import unicodedata

from sqlglot import exp

from unheard.errors import Reference, Surface, write_list
from unheard.model.scale_guess import doubt_scale
from unheard.options.option import write_text
from unheard.tables import check_rows
from unheard.tables.request import Request
from unheard.tables.row_examples import EXAMPLES
from unheard.tables.sources.column_names import FREQUENCY, TOTAL_ENDS, TOTALS
from unheard.tables.sources.open import Opened
from unheard.tables.sql.count_query import find_unsettled
from unheard.tables.sql.dialects import column
from unheard.tables.sql.rate_query import Prepared
from unheard.tables.sql.reserved_names import MANY, N_ROWS, N_WRONG, reserve
from unheard.text import plural


def describe_table(
    request: Request,
    opened: Opened,
    found: check_rows.Tally,
    given: Prepared,
    together: exp.Query,
    surface: Surface,
) -> list[str]:
    """Say what about a table makes it doubtful that it is what was asked about."""
    return [
        *_describe_scale(request, found, surface),
        *_describe_frequency(request, opened, given, surface),
        *_describe_further_counts(request, opened, surface),
        *_describe_n(request, opened, together),
        *_describe_totals(request, opened, given),
        *_describe_like_names(request, opened, given, found),
    ]


def describe_rows(
    request: Request, opened: Opened, found: check_rows.Tally, repeated: int
) -> list[str]:
    """Say which rows were left out, and which count as non-respondents."""
    messages = [] if found.items else [f"There are no rows in {opened.words}."]
    each = " (counted once for each rating column)" if request.attributes else ""
    if found.off_scale:
        off = plural(found.off_scale, "rating that is", "ratings that are")
        messages.append(
            f"{off} not on the scale {request.scale.describe()} {were(found.off_scale)} left "
            f"out{each} (note rows_dropped)."
        )
    empty = plural(found.nulls, check_rows.name_row(request))
    empty += f" without a rating {were(found.nulls)}"
    if found.nulls and request.nulls == "drop":
        messages.append(f"{empty} left out{each} (note rows_dropped).")
    if found.nulls and request.nulls == "nonresponse":
        silent = "a non-respondent" if found.nulls == 1 else "non-respondents"
        messages.append(f"{empty} counted as {silent}{each} (note nulls_counted).")
    if repeated:
        left_out = plural(repeated, "earlier or repeated rating")
        messages.append(f"{left_out} {were(repeated)} left out for the latest one.")
    if request.duplicates == "latest_or_none":
        unsettled = exp.select(exp.alias_(exp.Count(this=exp.Star()), MANY))
        unsettled = unsettled.from_(find_unsettled(request, opened.relation))
        pairs = int(opened.engine.rows(unsettled)[0][MANY])
        if pairs:
            messages.append(
                f"{plural(pairs, 'pair')} of rater and item {were(pairs)} left without a rating: "
                "it is unknown which of several is the latest."
            )
    return messages


def _describe_scale(request: Request, found: check_rows.Tally, surface: Surface) -> list[str]:
    """Say if the ratings contradict the scale that is assumed where none is stated."""
    if request.scale_stated or not request.rating:
        return []
    doubt = doubt_scale(dict(zip(request.scale.values, found.given, strict=True)), request.scale)
    return [] if doubt is None else [write_text(doubt.explain(request.scale), surface)]


def _list_unused(request: Request, opened: Opened) -> list[str]:
    """Return the columns of a table that nobody has named."""
    used = {name for name, _ in request.columns_of_source()}
    return [name for name in (*opened.kinds, *opened.findings.unread) if name not in used]


def _describe_further_counts(request: Request, opened: Opened, surface: Surface) -> list[str]:
    """Name columns that are called as those of the counts are, but for the rating."""
    if request.scale_stated or request.kept:
        return []
    shapes = {_leave_rating_out(name) for name in request.counts}
    more = [
        repr(name) for name in _list_unused(request, opened) if shapes == {_leave_rating_out(name)}
    ]
    if not more or shapes == {"#"}:
        return []
    counts = surface.write_reference(Reference("counts"))
    return [
        f"{write_list(more, 'and')} {were(len(more))} not counted: if more ratings are possible, "
        f"name their columns in {counts} as well."
    ]


def _leave_rating_out(name: str) -> str:
    return re.sub(r"\d+(\.\d+)?", "#", name)


_FEWEST_RATINGS_GIVEN = 2
"""Values of the scale that are given in a table with a row for each item and rating."""


def _describe_frequency(
    request: Request, opened: Opened, given: Prepared, surface: Surface
) -> list[str]:
    """Name a column that may say how many ratings a row stands for.

    That is likely if its name says so and no item has two rows with the same rating.
    """
    names = [name for name in _list_unused(request, opened) if FREQUENCY.fullmatch(name)]
    told_apart = request.frequency or request.weight or request.rater or request.time
    if not names or not request.rating or told_apart or not opened.engine.keeps:
        return []
    asked = [exp.alias_(exp.Max(this=column(name)), name) for name in request.count_columns]
    rows = opened.engine.rows(exp.select(*asked).from_(given.counts.copy()))
    most = [int(value or 0) for value in rows[0].values()]
    if max(most) != 1 or sum(most) < _FEWEST_RATINGS_GIVEN:
        return []
    use = surface.write_reference(Reference("frequency", value=names[0]))
    return [
        f"Each row was counted as one rating. If {names[0]!r} says how many ratings a row stands "
        f"for, use {use}."
    ]


def _describe_totals(request: Request, opened: Opened, given: Prepared) -> list[str]:
    """Name items of a single row that are called as the totals below a table are.

    So are subtotals: `Alder Total` below the rows of `Alder`.
    """
    engine, kinds = opened.engine, opened.kinds
    if not engine.keeps:
        return []  # such a message is not worth counting everything again
    names = []
    for name in request.item:
        if kinds.get(name) == "text":
            called = exp.Lower(this=exp.Trim(this=exp.cast(column(name), "text")))
            ends = [called.copy().like(f"%{end}") for end in TOTAL_ENDS]
            words = [exp.Literal.string(word) for word in TOTALS]
            rows = exp.select(column(name)).from_(given.counts.copy()).group_by(column(name))
            rows = rows.where(exp.or_(exp.In(this=called, expressions=words), *ends))
            rows = rows.having(exp.Sum(this=column(N_ROWS)).eq(1)).limit(EXAMPLES)
            names += [repr(row[name]) for row in engine.rows(rows)]
    return [f"{name} was taken for an item: if it sums up other rows, remove it." for name in names]


_MOST_NAMES = 20_000
"""Names of items that are compared; more would take noticeable time."""


def _describe_like_names(
    request: Request, opened: Opened, given: Prepared, found: check_rows.Tally
) -> list[str]:
    """Count the items whose names people would take for one, and show those without a name."""
    engine = opened.engine
    is_text = any(opened.kinds.get(name) == "text" for name in request.item)
    if not (is_text and engine.keeps and found.items <= _MOST_NAMES):
        return []
    keys = exp.select(*map(column, request.item)).distinct().from_(given.counts.copy())
    names = sorted(", ".join(map(str, key.values())) for key in engine.rows(keys))
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_fold_name(name), []).append(name)
    blank = alike.pop("", [])
    messages = [f"{name!r} was taken for an item, and is blank." for name in blank[:EXAMPLES]]
    several = [group for group in alike.values() if len(group) > 1]
    if not several:
        return messages
    first, second, *_ = several[0]
    return [
        *messages,
        f"{sum(map(len, several)):,} names are alike but for case, spaces or the encoding of "
        f"accents, such as {first!r} and {second!r}: each was taken for an item of its own.",
    ]


def _fold_name(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _describe_n(request: Request, opened: Opened, together: exp.Query) -> list[str]:
    """Say for how many items n was dropped or raised."""
    if request.bad_n == "refuse":
        return []
    wrong = exp.Sum(this=column(N_WRONG))
    every = exp.alias_(exp.Count(this=exp.Star()), MANY)
    counted = exp.select(exp.alias_(wrong, N_WRONG), every)
    (row,) = opened.engine.rows(counted.from_(together.subquery(reserve("given"))))
    many, items = int(row[N_WRONG] or 0), int(row[MANY])
    if not many:
        return []
    of = f"{many:,} of {plural(items, 'item')}"
    if request.n_may_be_unknown:
        return [f"n was not used for {of}, where it cannot be right (note n_dropped)."]
    return [f"n was raised for {of}, where it cannot be right (note n_raised)."]


def were(many: int) -> str:
    """Return the verb for so many."""
    return "was" if many == 1 else "were"
