"""What may be asked over REST: the declared options as JSON bodies and as query parameters.

Values are checked where they are used, so that the messages are those of every surface; here only
their types are.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    create_model,
)

from unheard.options.option import Option
from unheard.options.questions import options_of
from unheard.options.surfaces import REST

Schema: TypeAlias = dict[str, Any]

_build_model: Any = create_model  # its types know only fields that are written out

Number = StrictInt | StrictFloat
# Every list fails at its first mistake: a client reads one, and could send a million.
Counts = Annotated[list[Number], Field(fail_fast=True, min_length=2, max_length=10_001)]
Numbers = Annotated[list[Number], Field(fail_fast=True, max_length=10_001)]
Items = Annotated[list[Counts], Field(fail_fast=True, min_length=1, max_length=100_000)]
_Pairs = Annotated[list[Numbers], Field(fail_fast=True, max_length=10_001)]
_Ratios = Annotated[list[Number | StrictStr], Field(fail_fast=True, min_length=1, max_length=1_000)]
_Names = Annotated[list[StrictStr], Field(fail_fast=True, min_length=1, max_length=10)]

_TYPES: dict[str, Any] = {
    "number": Number,
    "whole": StrictInt,
    "numbers": Numbers,
    "pairs": _Pairs,
    "ratio": Number | StrictStr,
    "ratios": Number | StrictStr | _Ratios,
    "level": Number,
    "scale": StrictStr | Numbers,
    "choice": StrictStr,
    "flag": StrictBool,
    "text": StrictStr,
    "names": StrictStr | _Names,
    "assumption": dict[str, Any],
}
"""The JSON of each kind of option."""


def _build_form(question: str, description: str, example: Schema, **fields: Any) -> type[BaseModel]:
    """Build the body of a question: its options, and what is not an option."""
    declared = {
        name: _declare_field(option)
        for name, option in options_of(question, "rest").items()
        if option.kind in _TYPES and name not in fields
    }
    name = f"{question.capitalize()}Question"
    config = ConfigDict(extra="forbid", json_schema_extra={"example": example})
    form: type[BaseModel] = _build_model(
        name, __config__=config, __doc__=description, **fields, **declared
    )
    return form


def _declare_field(option: Option) -> tuple[Any, Any]:
    details: Schema = {"description": option.write_help(REST)}
    if option.choices and option.kind == "choice":
        # Listed for the reader: a wrong one is answered by the message of every surface.
        details["json_schema_extra"] = {"enum": [*option.choices, None]}
    if option.kind == "whole":
        details |= {"ge": option.least, "le": option.most}
    if option.required:
        return _TYPES[option.kind], Field(**details)
    optional = option.default is None or option.kind == "level"
    kind = _TYPES[option.kind] | None if optional else _TYPES[option.kind]
    return kind, Field(option.default, **details)


_COUNTS = (Counts, Field(description="The number of ratings of each value, lowest first."))

EstimateQuestion = _build_form(
    "estimate",
    "One histogram.",
    {"counts": [120, 30, 45, 200, 605], "q": 0.3},
    counts=_COUNTS,
)
SweepQuestion = _build_form(
    "sweep",
    "One histogram, for many q.",
    {"counts": [120, 30, 45, 200, 605], "above": 3.5},
    counts=_COUNTS,
    at=(Number | None, Field(None, description="For the chart: the q to mark.")),
)
CompareQuestion = _build_form(
    "compare",
    "Two histograms.",
    {"a": [5, 10, 35, 120, 30], "b": [30, 25, 45, 80, 20], "q": 0.5},
    a=_COUNTS,
    b=_COUNTS,
    names=(
        Annotated[list[StrictStr], Field(fail_fast=True, min_length=2, max_length=2)],
        Field(["A", "B"], description="What the two items are called."),
    ),
)
RegretQuestion = _build_form(
    "regret",
    "How wrong a method can be.",
    {"n": 20, "m": 5, "q": [0.3, 0.5], "method": ["bea", "paa"]},
    n=(Number | None, Field(description="Number of people; null for infinitely many.")),
)
MinimaxQuestion = _build_form(
    "minimax",
    "The smallest worst case that an aggregator can have.",
    {"n": 20, "q": 0.9},
)
PlanQuestion = _build_form(
    "plan",
    "One histogram, and the goal of a follow-up.",
    {"counts": [120, 30, 45, 200, 605], "n": 2400, "q": 0.3, "width": 0.3},
    counts=_COUNTS,
)
CalibrateQuestion: type[BaseModel] = _build_model(
    "CalibrateQuestion",
    __config__=ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"observed": [12, 30, 49, 25], "truth": [400, 330, 230, 60]}},
    ),
    __doc__="Counts of an audit: of the respondents, and of everybody.",
    observed=(Counts | Items, Field(description="Counts of the respondents, lowest rating first.")),
    truth=(Counts | Items, Field(description="Counts of everybody.")),
    paired=(StrictBool, Field(True, description="Whether the respondents are among everybody.")),
    **{
        name: _declare_field(option)
        for name, option in options_of("calibrate", "rest").items()
        if name in ("scale", "level")
    },
)


def describe_query(*questions: str) -> list[Schema]:
    """Describe the options of some questions as query parameters."""
    return [
        {
            "name": option.name,
            "in": "query",
            "required": option.required,
            "description": option.write_help(REST),
            "schema": _describe_value(option),
        }
        for question in questions
        for option in options_of(question, "rest").values()
    ]


def _describe_value(option: Option) -> Schema:
    schema: Schema = {"type": {"whole": "integer", "flag": "boolean"}.get(option.kind, "string")}
    if option.choices:
        schema["enum"] = list(option.choices)
    if option.kind == "whole":
        schema |= {"minimum": option.least} | (
            {} if option.most is None else {"maximum": option.most}
        )
    if option.default is not None:
        numeric = schema["type"] != "string"
        schema["default"] = option.default if numeric else str(option.default)
    return schema
