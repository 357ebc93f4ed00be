"""Counts that were kept, found in a file or a table, with how they were made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unheard.errors import hide_passwords
from unheard.tables.sources.databases import (
    choose_table,
    connect,
    find_table,
    is_database_file,
    is_url,
)
from unheard.tables.sources.open import Where


def recall_options(source: Any, where: Where, options: Mapping[str, Any]) -> dict[str, Any]:
    """Add to the options of a question how the counts in its table were made, if they were kept.

    If the options name columns of ratings or counts, nothing is added.
    """
    said = any(options.get(name) is not None for name in ("rating", "counts"))
    named = isinstance(source, str | os.PathLike) and where.confined is None
    if said or not named or where.query is not None:
        return dict(options)
    text = os.fspath(source)
    if is_url(text) or is_database_file(text):
        state = _recall_table(text, where)
    elif os.path.isfile(text):
        from unheard.tables.kept.in_file import read_state

        state = read_state(Path(text))
    else:
        return dict(options)
    return dict(options) if state is None else state.settings.ask(options)


def _recall_table(text: str, where: Where) -> Any:
    from unheard.tables.kept.in_table import read_state

    database, name = choose_table(text, where.table, where.query)
    engine = connect(database, writable=where.writable, memory=where.memory)
    try:
        if name is None:
            name = find_table(engine, hide_passwords(database), None)[0].name
        return read_state(engine, name)
    finally:
        engine.close()
