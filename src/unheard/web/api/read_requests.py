"""From a request to the options of a question, or to the first mistake in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from unheard.errors import InputError
from unheard.options.questions import options_of
from unheard.options.unknown import suggest

_ENDLESS = re.compile(rb"\d{309}")
"""A number that is too long for what computers calculate with."""

_SCHEMA = "See /api/v1/openapi.json"
_EXPECTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a JSON object",
    "model_type": "a JSON object",
    "model_attributes_type": "a JSON object",
}


class QuestionError(InputError):
    """A question that is not of the form that the schema describes."""

    code = "invalid_question"


def read_question(form: type[BaseModel], body: bytes) -> dict[str, Any]:
    """Read the arguments of a question.

    Lists fail at their first mistake (see the schema) and names are looked at before anything
    else, so that a body full of mistakes costs no more than one with a single one.
    """
    try:
        document = from_json(body, allow_inf_nan=False)
    except ValueError:
        raise QuestionError(
            "body", problem="The body is not JSON", hint="Send a JSON object"
        ) from None
    if _ENDLESS.search(body):
        raise QuestionError(
            "body", problem="A number has more than 308 digits", hint="Send a smaller one"
        )
    if isinstance(document, dict):
        _refuse_unknown(document, form.model_fields)
    try:
        return form.model_validate(document).model_dump()
    except ValidationError as error:
        raise describe_mistake(error.errors(include_url=False)[0]) from None


def read_query(parameters: Iterable[tuple[str, str]], *questions: str) -> list[dict[str, str]]:
    """Tell the query parameters of some questions apart, still as text."""
    known = [options_of(question, "rest") for question in questions]
    given: list[dict[str, str]] = [{} for _ in questions]
    _refuse_unknown([name for name, _ in parameters], {name for one in known for name in one})
    for name, text in parameters:
        at = next(at for at, one in enumerate(known) if name in one)
        if name in given[at]:
            raise QuestionError(name, problem="{argument} is given twice", hint="Give it once")
        given[at][name] = text
    return given


def _refuse_unknown(given: Iterable[str], known: Iterable[str]) -> None:
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise QuestionError(
            _shorten(unknown),
            problem="There is no field {name}",
            hint="{near}",
            code="unknown_option",
            name=_shorten(unknown),
            near=suggest(unknown, known) or _SCHEMA,
        )


def describe_mistake(error: Mapping[str, Any]) -> QuestionError:
    """Say where a question is malformed, what was given, and what to do."""
    # Alternatives are told apart by types in the place, such as q.int: nobody sent these.
    names = [part for part in error["loc"] if part not in ("int", "float", "str")]
    name = _shorten(str(names[0])) if names else "body"
    index = [part for part in names[1:] if isinstance(part, int)]
    if error["type"] == "missing":
        return QuestionError(name, problem="{argument} is missing", hint=_SCHEMA, index=index)
    if error["type"] in _EXPECTED:
        # The first alternative of a number is a whole one.
        expected = "a number" if "int" in error["loc"] else _EXPECTED[error["type"]]
        return QuestionError(
            name,
            problem="{argument} must be {expected}",
            value=error.get("input"),
            index=index,
            expected=expected,
        )
    return QuestionError(
        name,
        problem="{argument} is malformed: {message}",
        hint=_SCHEMA,
        index=index,
        message=str(error["msg"]),
    )


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
