"""Everyday files, uploaded: understood as on the command line, and their columns guessed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.tables.everyday import (
    EVERYDAY,
    Everyday,
    RefusedError,
    check_result,
    follow,
    written,
)
from tests.web.server import Served, detail
from unheard.options.surfaces import REST
from unheard.web.api.tables import FORMS

pytestmark = pytest.mark.xdist_group("web-api")

KINDS = {name.rpartition(".")[2]: kind for kind, name in FORMS.items()}


@pytest.mark.parametrize("case", EVERYDAY, ids=lambda case: case.name)
def test_an_upload_is_understood(case: Everyday, tmp_path: Path, server: Served) -> None:
    """What the page guesses the columns to be is what a person would name."""

    def ask(path: Path, asked: Mapping[str, Any]) -> Any:
        ending = path.name.rpartition(".")[2]
        query = {
            name: value if isinstance(value, str) else ",".join(value)
            for name, value in asked.items()
        }
        kind, content = KINDS.get(ending, "text/csv"), path.read_bytes()
        reply = server.table("/rate", content, kind, q=0.3, level="none", **query)
        if reply.status == 422:
            raise RefusedError(detail(reply, 422))
        assert reply.status == 200, reply.text
        reading = {name: query[name] for name in ("sheet", "encoding", "header") if name in query}
        seen = server.table("/inspect", content, kind, **reading)
        assert seen.status == 200, seen.text
        guesses.append(seen.document["guess"])
        return reply.document

    guesses: list[Any] = []
    check_result(case, follow(case, written(case, tmp_path), ask, REST))
    wanted = {**case.asked, **case.remedy, **case.instead}
    if case.expected and case.instead != {"item": "hotel", "rating": "stars (1)"}:
        counts = wanted.get("counts", ())
        assert guesses[-1]["item"] == [wanted["item"]]
        assert guesses[-1]["rating"] == (None if counts else wanted["rating"])
        assert guesses[-1]["counts"] == list(counts)
        assert guesses[-1]["frequency"] == wanted.get("frequency")
