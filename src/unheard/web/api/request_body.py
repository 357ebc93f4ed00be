"""From the JSON of a question to its arguments, or to the first mistake in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from unheard.errors import InputError

_ENDLESS = re.compile(rb"\d{309}")
"""A number that is too long for what computers calculate with."""

_SCHEMA = "See /api/v1/openapi.json"
_WANTED = {
    "int_type": "Give a number",
    "int_parsing": "Give a whole number",
    "int_parsing_size": "Give a smaller number",
    "float_type": "Give a number",
    "float_parsing": "Give a number",
    "string_type": "Give text",
    "list_type": "Give a list",
    "dict_type": "Give a JSON object",
    "model_type": "Give a JSON object",
    "model_attributes_type": "Give a JSON object",
}


class QuestionError(InputError):
    """A question that is not of the form that the schema describes."""


def read_question(form: type[BaseModel], body: bytes) -> dict[str, Any]:
    """Read the arguments of a question.

    Lists fail at their first mistake (see the schema) and names are looked at before anything
    else, so that a body full of mistakes costs no more than one with a single one.
    """
    try:
        document = from_json(body, allow_inf_nan=False)
    except ValueError:
        raise QuestionError("body", "it is not JSON", "Send a JSON object") from None
    if _ENDLESS.search(body):
        raise QuestionError("body", "a number of more than 308 digits found", "Give a smaller one")
    if isinstance(document, dict):
        unknown = next((name for name in document if name not in form.model_fields), None)
        if unknown is not None:
            raise QuestionError(_brief(unknown), "there is nothing of this name", _SCHEMA)
    try:
        return form.model_validate(document).model_dump()
    except ValidationError as error:
        raise mistake(error.errors(include_url=False)[0]) from None


def mistake(error: Mapping[str, Any]) -> QuestionError:
    """Say where a question is malformed, what was found there, and what to do."""
    # Alternatives are told apart by types in the place, such as q.int: nobody sent these.
    names = [part for part in error["loc"] if part not in ("int", "float", "str")]
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in names]
    place = _brief("".join(parts).lstrip(".")) or "body"
    if error["type"] == "missing":
        return QuestionError(place, "nothing found", _SCHEMA)
    if error["type"] == "extra_forbidden":
        return QuestionError(place, "there is nothing of this name", _SCHEMA)
    if error["type"] in _WANTED:
        return QuestionError(
            place, f"{_brief(repr(error.get('input')))} found", _WANTED[error["type"]]
        )
    return QuestionError(place, str(error["msg"]), _SCHEMA)


def _brief(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
