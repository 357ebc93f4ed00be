"""Options written as text, as they are typed and as they stand in an address."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unheard.errors import (
    AssumptionError,
    ColumnError,
    CountsError,
    InputError,
    MethodError,
    OptionError,
    PopulationError,
    ScaleError,
)
from unheard.model.labels import parse_labels
from unheard.model.scale import Scale
from unheard.model.studies import NAMED_Q, STUDIES, find_near_name, read_named_q, refuse_name
from unheard.options.option import Option, Where
from unheard.options.questions import options_of
from unheard.options.unknown import check_choice

_ERRORS: dict[str, type[InputError]] = {
    **dict.fromkeys(("q", "floor", "quiet", "participation", "g", "assumption"), AssumptionError),
    **dict.fromkeys(("n", "effective", "largest_weight"), PopulationError),
    **dict.fromkeys(("counts", "squared_weights", "nonrespondents", "follow_up"), CountsError),
    **dict.fromkeys(("item", "rating", "strata"), ColumnError),
    "method": MethodError,
}
"""What kind of error a bad value is, where it is not an :class:`OptionError`."""


def parse_options(question: str, surface: Where, given: Mapping[str, Any]) -> dict[str, Any]:
    """Read all options of a question from text; what is not text is taken as it is."""
    return {
        name: parse_value(option, given[name]) if name in given else option.default
        for name, option in options_of(question, surface).items()
    }


def parse_value(option: Option, given: Any) -> Any:
    """Read the value of one option; None if it was not given.

    Examples
    --------
    >>> from unheard.options.declarations import G, LEVEL, Q
    >>> parse_value(Q, "reviews"), parse_value(G, "0.2,0.5"), parse_value(LEVEL, "none")
    (0.3, [0.2, 0.5], None)
    """
    if option.kind in ("columns", "names"):
        return split_names(given) or None
    if not isinstance(given, str):
        return given
    return _READERS[option.kind](option, given.strip() if option.kind in _NUMERIC else given)


def parse_number(text: str, argument: str, index: int | None = None) -> float:
    """Read one number."""
    try:
        return float(text)
    except ValueError:
        raise _error_for(argument)(
            argument,
            problem="{argument} is not a number",
            value=text.strip(),
            index=() if index is None else index,
            hint=_explain_number(text, argument),
        ) from None


def _explain_number(text: str, argument: str) -> str:
    if text.strip().endswith("%"):
        counted = _error_for(argument) is CountsError
        return "Give the number of ratings, not percentages" if counted else "Write 30% as 0.3"
    if "," in text:
        return "Write a point for decimals, and nothing between thousands"
    return "Use digits, with a point for decimals"


def parse_numbers(text: str, argument: str) -> list[float]:
    """Read numbers separated by commas."""
    return [parse_number(part, argument, at) for at, part in enumerate(text.split(","))]


def _error_for(argument: str) -> type[InputError]:
    return _ERRORS.get(argument, OptionError)


def _read_number(option: Option, text: str) -> float:
    return parse_number(text, option.name)


def _read_numbers(option: Option, text: str) -> list[float]:
    return parse_numbers(text, option.name)


def _read_whole(option: Option, text: str) -> int:
    value = parse_number(text, option.name)
    most = option.most
    if not value.is_integer() or value < option.least or (most is not None and value > most):
        limits = f"{option.least} or more" if most is None else f"from {option.least} to {most:,}"
        raise OptionError(
            option.name,
            problem="{argument} must be a whole number, {limits}",
            value=value,
            limits=limits,
        )
    return int(value)


def _read_ratio(option: Option, text: str) -> float | str:
    # A study stays a name, because it says who responds less often as well.
    return text if text in STUDIES else _read_one_ratio(option, text)


def _read_one_ratio(option: Option, text: str, index: int | None = None) -> float:
    if text in NAMED_Q:
        return read_named_q(text)
    if find_near_name(text):
        raise refuse_name(text)
    return parse_number(text, option.name, index)


def _read_ratios(option: Option, text: str) -> list[float]:
    if ":" in text:
        try:
            return list(Scale.parse(text).values)
        except ScaleError as error:
            raise error.about(option.name) from None
    return [_read_one_ratio(option, part.strip(), at) for at, part in enumerate(text.split(","))]


def _read_level(option: Option, text: str) -> float | None:
    return None if text.lower() == "none" else parse_number(text, option.name)


def _read_scale(_option: Option, text: str) -> Scale:
    return Scale.parse(text)


def _read_labels(_option: Option, text: str) -> object:
    return parse_labels(text)


def _read_pairs(option: Option, text: str) -> list[tuple[float, float]]:
    pairs = []
    for index, part in enumerate(text.split(",")):
        ends = part.split(":")
        if len(ends) != 2:
            raise AssumptionError(
                option.name,
                problem="{argument} is not a pair of bounds",
                value=part,
                index=index,
                hint="Give lo:hi for each rating, separated by commas,",
                examples=("0.1:0.4,0.2:0.6",),
            )
        lo, hi = (parse_number(end, option.name, index) for end in ends)
        pairs.append((lo, hi))
    return pairs


def _read_choice(option: Option, text: str) -> str:
    check_choice(option.name, text, option.choices, _error_for(option.name))
    return text


def _read_flag(option: Option, text: str) -> bool:
    check_choice(option.name, text.lower(), _FLAGS, OptionError)
    return _FLAGS[text.lower()]


_FLAGS = {"true": True, "false": False, "1": True, "0": False}


def _read_text(_option: Option, text: str) -> str:
    return text


_READERS: dict[str, Callable[[Option, str], Any]] = {
    "number": _read_number,
    "whole": _read_whole,
    "numbers": _read_numbers,
    "pairs": _read_pairs,
    "ratio": _read_ratio,
    "ratios": _read_ratios,
    "level": _read_level,
    "scale": _read_scale,
    "labels": _read_labels,
    "choice": _read_choice,
    "flag": _read_flag,
    "text": _read_text,
    "column": _read_text,
    "table": _read_text,
    "assumption": _read_text,
    "file": _read_text,
}
_NUMERIC = ("number", "whole", "ratio", "level")


def split_names(given: str | Sequence[str] | None) -> list[str]:
    """Read names separated by commas, given once or several times.

    A comma before a space is part of a name. A name that holds another comma is put in double
    quotes, as in a CSV file.

    Examples
    --------
    >>> split_names(["hotel,wing", '"bad=1,good=5",stars', "How good, overall?"])
    ['hotel', 'wing', 'bad=1,good=5', 'stars', 'How good, overall?']
    """
    texts = [given] if isinstance(given, str) else given or ()
    return [name for text in texts for name in _split(text)]


def _split(text: str) -> list[str]:
    if not text.startswith('"') and ',"' not in text:
        return re.split(r",(?!\s)", text)
    # Line breaks are part of a name here, and the reader keeps them in quotes only.
    return next(csv.reader(text.splitlines(keepends=True)), [])
