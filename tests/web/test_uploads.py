"""Uploads that are something else than they say, as the process that reads them finds them."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.tables.stays import STAYS, as_csv, in_duckdb, in_sqlite
from unheard.errors import QueryError, SourceError
from unheard.tables.sources.open import Where, open_source
from unheard.web.api.tables import FORMS, Upload
from unheard.web.api.tasks import TASKS
from unheard.web.server.limits import MIB, Limits
from unheard.web.server.worker import _run_task


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an upload; what its reader changes in this process is put back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", None)
    made = tmp_path / "upload"
    made.mkdir()
    return made


def sent(folder: Path, content: bytes, kind: str = "text/csv") -> dict[str, Any]:
    (folder / FORMS[kind]).write_bytes(content)
    limits = Limits(memory=512 * MIB)
    most = limits.describe() | {"memory": limits.memory}
    return {"folder": str(folder), "file": FORMS[kind], "limits": most}


def inspected(folder: Path, content: bytes, kind: str = "text/csv") -> tuple[int, Any]:
    answer = _run_task(TASKS["inspect"], {"upload": sent(folder, content, kind)})
    return answer.status, json.loads(answer.content)


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("engine", ["DuckDB", "SQLite"])
def test_a_database_is_not_opened(engine: str, kind: str, folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("hotel,stars\nTOPSECRET,5\n")
    path = tmp_path / "spy.db"
    if engine == "DuckDB":
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"create view stays as select * from read_csv('{secret}')")
    else:
        in_sqlite(path, stays=STAYS)
    status, found = inspected(folder, path.read_bytes(), kind)
    assert status == 422
    assert found["detail"].startswith(FORMS[kind])
    if kind.startswith("text/"):
        assert f"is a {engine} database" in found["detail"]
    text = json.dumps(found)
    assert "TOPSECRET" not in text
    assert str(tmp_path) not in text


def test_the_name_of_an_upload_opens_no_database(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_duckdb(folder / "table.db", stays=STAYS)
    monkeypatch.chdir(folder)
    with pytest.raises(SourceError, match="is a DuckDB database"):
        open_source("table.db", None, Where(confined=folder))


def test_text_that_begins_like_a_database_is_text(folder: Path) -> None:
    status, found = inspected(folder, b"roasted DUCK,stars\nA,5\nA,4\n")
    assert (status, [one["name"] for one in found["columns"]]) == (200, ["roasted DUCK", "stars"])


def test_uploads_are_read_by_a_confined_engine(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("hotel,stars\nTOPSECRET,5\n")
    upload = Upload(**sent(folder, as_csv(STAYS)))
    engine: Any = open_source(upload.file, None, upload.where).engine
    try:
        with pytest.raises(QueryError, match=r"(?i)permission"):
            engine.execute(f"from read_csv('{tmp_path}/secret.csv')")
        with pytest.raises(QueryError, match="locked"):
            engine.execute("set threads = 9")
        bound = engine.execute("select current_setting('memory_limit')").fetchall()[0][0]
        assert bound == "256.0 MiB"  # half of what the whole process may use
        assert engine.folder.parent == folder
    finally:
        engine.close()
    assert os.listdir(folder) == ["table.csv"]
