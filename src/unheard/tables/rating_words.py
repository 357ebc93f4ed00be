"""Ratings that are words: read as stated, or as recognised and accepted, then counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from unheard.analysis.breakdown import Claim
from unheard.errors import ColumnError, DataError, OptionError, write_list
from unheard.model.labels import LabelMap, Reading, ask_about, fold, match_scale, recognise
from unheard.tables.request import Kind, Request, check
from unheard.tables.row_examples import MOST_WORDS_SHOWN, list_values
from unheard.tables.sources.open import Opened
from unheard.tables.sql.count_query import is_value
from unheard.tables.sql.dialects import column
from unheard.tables.sql.reserved_names import MANY, reserve
from unheard.text import write_exactly

MOST_WORDS = 1000
"""More different texts than this are no ratings."""

_LABELLED = reserve("labelled")


def read_words(request: Request, opened: Opened) -> tuple[Request, Opened, list[str]]:
    """Replace words by the ratings that they stand for; return what was recognised as well."""
    labels, messages = request.labels, list[str]()
    if labels is None:
        return request, opened, messages
    counts = {name: count_texts(opened, name) for name in request.rating}
    together = sum(counts.values(), Counter[str]())
    if labels.recognises and not (labels.values and all(labels.tell(x)[0] for x in together)):
        reading = _choose(request, opened, together)
        labels = reading.labels
        messages.append(f"Words were read as ratings: {reading.describe()}.")
        request = _set_scale(request, labels)
    words = {name: _write_case(name, opened.kinds[name], labels, counts[name]) for name in counts}
    relation = replace_words(request, opened.relation, words)
    kinds: dict[str, Kind] = {**opened.kinds, **dict.fromkeys(request.rating, "text")}
    return request, replace(opened, relation=relation, kinds=kinds), messages


def count_texts(opened: Opened, name: str) -> Counter[str]:
    """Count the different texts of a column; raise if there are too many for words."""
    value, text = column(name), reserve("text")
    query = exp.select(exp.alias_(value, text), exp.alias_(exp.Count(this=exp.Star()), MANY))
    query = query.from_(opened.relation.copy()).where(value.copy().is_(exp.null()).not_())
    rows = opened.engine.rows(query.group_by(value.copy()).limit(MOST_WORDS + 1))
    if len(rows) > MOST_WORDS:
        raise ColumnError(
            "labels",
            problem="Column {column} of {table} has more than {most:,} different values, too many "
            "for words that stand for ratings",
            hint="Name the column with the ratings in {rating}",
            column=repr(name),
            table=opened.words,
            most=MOST_WORDS,
        )
    return Counter({_write_text(row[text]): int(row[MANY]) for row in rows})


def _write_text(value: object) -> str:
    return value if isinstance(value, str) else write_exactly(float(str(value)))


def find_readings(request: Request, opened: Opened, counts: Mapping[str, int]) -> list[Reading]:
    """Return the ways to read the words of the rating columns, as far as they are not known."""
    orders = {opened.orders.get(name, ()) for name in request.rating}
    readings = recognise(counts, orders.pop() if len(orders) == 1 else ())
    fitted = _fit_scale(request, opened, readings) if request.scale_stated else readings
    known = request.labels
    if known is None:
        return fitted
    joined = [
        replace(one, labels=known.add(one.labels))
        for one in fitted
        if known.find_conflict(one.labels) is None
    ]
    return joined or [Reading(known, counts)] * bool(known.values)


def _fit_scale(request: Request, opened: Opened, readings: list[Reading]) -> list[Reading]:
    """Return what fits the scale that is stated; raise if nothing does."""
    matched = [(reading, match_scale(reading.labels, request.scale)) for reading in readings]
    fitted = [replace(reading, labels=labels) for reading, labels in matched if labels is not None]
    if readings and not fitted:
        raise DataError(
            "scale",
            problem="The ratings in {columns} of {table} are words, which may be read as "
            "{reading}, and the scale is {values}",
            hint=("Count all tables again with" if request.scale_kept else "Use")
            + " {scale:{other}}, or say what each stands for on your scale with {labels}",
            code="ratings_are_words",
            columns=_columns(request),
            table=opened.words,
            reading=readings[0].describe(),
            values=request.scale.describe(),
            other=readings[0].labels.scale.write(),
        )
    return fitted


def _columns(request: Request) -> str:
    return write_list([repr(name) for name in request.rating], "and")


def refuse_words(request: Request, opened: Opened) -> None:
    """Raise if ratings are words that are recognised: somebody must accept the reading."""
    if not any(opened.kinds[name] == "text" for name in request.rating):
        return
    try:
        counts = sum((count_texts(opened, name) for name in request.rating), Counter[str]())
    except ColumnError:
        return  # other messages say what is wrong
    readings = find_readings(request, opened, counts)
    if readings:
        raise _ask(request, opened, readings)


def _choose(request: Request, opened: Opened, counts: Mapping[str, int]) -> Reading:
    readings = find_readings(request, opened, counts)
    if len(readings) == 1 and not readings[0].unread:
        return readings[0]
    if readings:
        raise _ask(request, opened, readings)
    raise DataError(
        "labels",
        problem="The values of {columns} in {table} are no words that are recognised: {words}",
        hint=_SAY_EACH + ", as in {labels:{asked}}" if ask_about(counts) else "Leave {labels} out",
        columns=_columns(request),
        table=opened.words,
        words=list_values(counts, MOST_WORDS_SHOWN) or "there are none",
        asked=ask_about(counts),
    )


_SAY_EACH = "Say what each stands for, nothing where it is no rating"


def _ask(request: Request, opened: Opened, readings: list[Reading]) -> DataError:
    """Return the error that shows how words may be read, and asks for it to be accepted."""
    places = range(len(readings))
    options = " or ".join(
        _write_options(request, reading, at) for at, reading in enumerate(readings)
    )
    first = readings[0]
    are = "are words" if first.labels.has_ratings else "are numbers and words"
    if len(readings) > 1:
        fit, hint = " that fit more than one scale: ", f"Say which with {options}"
    elif first.unread:
        fit = ", some of which may be read as "
        hint = f"{_SAY_EACH}, as in {options}"
    else:
        fit = ", which may be read as "
        hint = f"Accept that with {{labels:auto}}, or say what they stand for, as in {options}"
    data: dict[str, Any] = {f"labels_{at}": readings[at].write() for at in places}
    data |= {f"scale_{at}": readings[at].labels.scale.write() for at in places}
    data |= {f"reading_{at}": readings[at].describe() for at in places}
    shown = "; or ".join(f"{{reading_{at}}}" for at in places)
    return DataError(
        "labels",
        problem="The ratings in {columns} of {table} {are}{fit}" + shown,
        hint=hint,
        code="ratings_are_words",
        columns=_columns(request),
        table=opened.words,
        are=are,
        fit=fit,
        **data,
    )


def _write_options(request: Request, reading: Reading, at: int) -> str:
    """Write the options that state a reading, with the scale unless the words tell it."""
    labels, stated = reading.labels, request.scale_stated
    settled = stated or labels.tells_scale or not labels.has_ratings
    return f"{{labels:{{labels_{at}}}}}" + ("" if settled else f" with {{scale:{{scale_{at}}}}}")


def _set_scale(request: Request, labels: LabelMap) -> Request:
    """Return the request with the scale of words, which was not known when it was made."""
    if not labels.has_ratings:
        return replace(request, labels=labels)
    request = replace(request, labels=labels, scale=labels.scale, scale_stated=True)
    request.assumption.check_fits(labels.scale.m, 1)
    order = request.order
    if order is not None and order.claim is not None:
        threshold, is_above = order.claim.threshold, order.claim.above
        above, below = (threshold, None) if is_above else (None, threshold)
        claim = Claim.read(above, below, labels.scale)
        request = replace(request, order=replace(order, claim=claim))
    check(request)
    return request


def _write_case(name: str, kind: Kind, labels: LabelMap, texts: Mapping[str, int]) -> exp.Expr:
    """Write the expression for the rating that a column's values stand for, as text."""
    value: exp.Expr = exp.cast(column(name), "text")
    case = exp.case()
    for text in texts:
        is_known, rating = labels.read(text)
        if is_known:
            same: exp.Expr = exp.EQ(this=value.copy(), expression=exp.Literal.string(text))
            if kind != "text":
                same = is_value(name, kind, float(text))
            case = case.when(same, _write_rating(rating))
    return case.else_(value) if case.args.get("ifs") else value


def write_stated_words(request: Request, relation: exp.Expr) -> exp.Expr:
    """Replace words that are stated, in a table that nobody has looked at."""
    assert request.labels is not None  # whoever calls this has looked
    if request.labels.recognises:
        raise OptionError(
            "labels",
            problem="{labels:auto} requires the data, and a query is written without them",
            hint="Name the words, lowest rating first, as in {labels:Poor,Fair,Good}",
        )
    words = {name: _write_stated_case(name, request.labels) for name in request.rating}
    return replace_words(request, relation, words)


def _write_stated_case(name: str, labels: LabelMap) -> exp.Expr:
    """Write the expression for texts that nobody has looked at: case and spaces do not matter."""
    value: exp.Expr = exp.Trim(this=exp.cast(column(name), "text"))
    case = exp.case()
    for label, rating in labels.values.items():
        words = [exp.Literal.string(word) for word in dict.fromkeys((label.lower(), fold(label)))]
        case = case.when(
            exp.In(this=exp.Lower(this=value.copy()), expressions=words), _write_rating(rating)
        )
    return case.else_(value)


def _write_rating(rating: float | None) -> exp.Expr:
    return exp.null() if rating is None else exp.Literal.string(write_exactly(rating))


def replace_words(request: Request, relation: exp.Expr, words: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return the columns of a table that are asked for, some of them as expressions."""
    names = dict.fromkeys(name for name, _ in request.columns_of_source())
    selected = [exp.alias_(words[name], name) if name in words else column(name) for name in names]
    return exp.select(*selected).from_(relation.copy()).subquery(_LABELLED)
