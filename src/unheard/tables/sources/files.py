"""Files of rows: which ones a name stands for, what they are, and how DuckDB reads them."""

from __future__ import annotations

import codecs
import difflib
import glob
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlglot import exp

from unheard.errors import OptionError, QueryError, SourceError, UnheardError
from unheard.tables.engines.duckdb import DuckDB, kind_of, quote_name, quote_text
from unheard.tables.sources.cells import unite_tables
from unheard.tables.sources.delimited import read_delimited
from unheard.tables.sources.parts import Form, Part, open_part
from unheard.tables.sources.reading import FileFindings, Reading, Roles, unreadable
from unheard.tables.sources.text_numbers import read_text_numbers
from unheard.tables.sources.web_tables import read_page
from unheard.tables.sources.workbooks import read_workbook

_CLOSE = 0.75


def not_found(text: str) -> SourceError:
    """Return the error about a file that does not exist, with the name that may have been meant."""
    path = Path(text)
    near: list[str] = []
    if path.parent.is_dir():
        near = [
            name
            for name in difflib.get_close_matches(path.name, os.listdir(path.parent), cutoff=_CLOSE)
            # A suffix in common makes any two short names look alike.
            if difflib.SequenceMatcher(None, path.stem, Path(name).stem).ratio() >= _CLOSE
        ]
    hint = "Use a file, a glob, a database URL, or - for standard input"
    return SourceError(
        "source",
        problem="{path} does not exist",
        hint="Did you mean {near}?" if near else hint,
        code="file_not_found",
        path=text,
        near=str(path.parent / near[0]) if near else "",
    )


def matching(text: str) -> list[str]:
    """Return the files that a path or a glob stands for.

    What exists under the name as it is written, file or folder, is never read as a pattern. A
    pattern matches hidden files only where it writes their dot.
    """
    if os.path.isfile(text):
        return [text]
    folder = next((one for one in Path(text).parents if one.is_dir()), None)
    if folder is None or not glob.has_magic(text):
        return []
    pattern = str(Path(text).relative_to(folder))
    found = glob.glob(pattern, root_dir=folder, recursive=True)
    return sorted(str(folder / one) for one in found if (folder / one).is_file())


def read_file(
    engine: DuckDB,
    path: str,
    words: str,
    roles: Roles,
    reading: Reading,
) -> tuple[exp.Expr, FileFindings]:
    """Let DuckDB read files.

    Parameters
    ----------
    engine
        That reads.
    path
        A path or a glob.
    words
        What messages call the files.
    roles
        Which columns are needed, and what for. If one is missing, the table has all columns.
    reading
        How they are to be read.
    """
    files = matching(path)
    parts = []
    for one in files:
        called = words if len(files) == 1 else one
        if os.path.getsize(one) == 0:
            raise _empty(called)
        part = open_part(one, one if words == path else words, called, engine.folder, reading)
        if (
            part.form in ("csv", "tsv")
            and not (part.head.removeprefix(codecs.BOM_UTF8) + part.tail).strip()
        ):
            raise _empty(called)
        parts.append(part)
    form = _common_form(parts, words)
    try:
        if form in ("workbook", "page"):
            relation, findings = _read_cells(engine, parts, roles, reading)
        elif form in ("csv", "tsv"):
            paths = _escape_paths([part.path for part in parts])
            relation, findings = read_delimited(
                engine, paths, parts, roles, reading, tabs=form == "tsv"
            )
        else:
            _refuse_header(form, reading, words)
            paths = _escape_paths([part.path for part in parts])
            relation, findings = _read_typed(engine, form, paths, roles, words), FileFindings()
    except Exception as error:
        if isinstance(error, UnheardError) and not isinstance(error, QueryError):
            raise
        message = error.message if isinstance(error, QueryError) else str(error)
        raise unreadable(
            "{path} cannot be read as {form}: {message}",
            words,
            "Check the file and its ending",
            form=form,
            message=message.splitlines()[0].rstrip(". "),
        ) from error
    if form not in ("json", "parquet"):
        relation, numbers = read_text_numbers(
            engine, relation, roles, in_cells=form in ("workbook", "page")
        )
        findings = replace(findings, notes=(*findings.notes, *numbers))
    notes = tuple(note for part in parts for note in part.notes)
    return relation, replace(findings, encoding=parts[0].encoding, notes=(*notes, *findings.notes))


def _empty(words: str) -> SourceError:
    return unreadable("{path} is empty", words, "Use a file with a header")


def _common_form(parts: Sequence[Part], words: str) -> Form:
    forms = sorted({part.form for part in parts})
    if len(forms) > 1 and forms != ["csv", "tsv"]:
        raise unreadable(
            "The files that {path} stands for are of several formats: {forms}",
            words,
            "Name files of one format",
            forms=", ".join(forms),
        )
    return forms[0]


def _refuse_header(form: Form, reading: Reading, words: str) -> None:
    if reading.header is not None:
        raise OptionError(
            "header",
            problem="{argument} does not apply to {path}: in {form} every value has a name",
            hint="Leave it out",
            path=words,
            form={"json": "JSON"}.get(form, "Parquet"),
        )


def _read_cells(
    engine: DuckDB, parts: Sequence[Part], roles: Roles, reading: Reading
) -> tuple[exp.Expr, FileFindings]:
    """Read sheets and web pages, which come as whole tables."""
    tables, found = [], []
    for part in parts:
        asked = replace(reading, sheet=part.sheet)
        if part.form == "page":
            table, findings = read_page(Path(part.path), roles, asked, part.words)
        else:
            table, findings = read_workbook(part.path, roles, asked, part.words)
        tables.append(table)
        found.append(findings)
    first = replace(found[0], notes=tuple(note for one in found for note in one.notes))
    if parts[0].form == "workbook":
        first = replace(first, workbook=parts[0].path)
    return engine.register(unite_tables(tables)), first


def _read_typed(
    engine: DuckDB, form: Form, paths: Sequence[str], roles: Roles, words: str
) -> exp.Expr:
    listed = f"[{', '.join(map(quote_text, paths))}]"
    if form == "json":
        return _read_json(engine, listed, roles, words)
    engine.counts_rows_for_nothing = True
    together = ", union_by_name = true" if len(paths) > 1 else ""
    return _view(engine, f"read_parquet({listed}{together})", roles.wanted)


def _escape_paths(files: Sequence[str]) -> list[str]:
    """Write paths so that DuckDB finds neither patterns nor addresses in them."""
    for path in files:
        if os.sep != "\\" and "\\" in path and glob.has_magic(path):
            raise unreadable(
                "DuckDB cannot read {path}: its name has both a backslash and *, ? or [",
                path,
                "Rename it",
            )
    # The dot in front keeps ~ and http: from meaning anything.
    return [glob.escape(os.path.join(os.curdir, path)) for path in files]


def _view(engine: DuckDB, source: str, wanted: Collection[str] | None) -> exp.Expr:
    """Give the wanted columns of a source a name: thousands more would cost a minute.

    If one of them is not there, or in other letters, all columns are taken.
    """
    if wanted:
        try:
            narrow = engine.view(f"select {', '.join(map(quote_name, wanted))} from {source}")
        except QueryError:
            pass
        else:
            if engine.columns(narrow).keys() == {*wanted}:
                return narrow
    return engine.view(f"select * from {source}")


def _read_json(engine: DuckDB, listed: str, roles: Roles, words: str) -> exp.Expr:
    source, as_text = f"read_json({listed}, union_by_name = true)", roles.as_text
    found = engine.execute(f"describe select * from {source}").fetchall()
    if not {row[0] for row in found} & {*(roles.wanted or ())}:
        _check_rows_on_top(engine, source, found, words)
    unlike = ("time", "flag", "other")
    guessed = [row for row in found if row[0] in as_text and kind_of(row[1]) in unlike]
    if any(row[1] != "JSON" for row in guessed):
        # Names that look like dates are names.
        names = {row[0] for row in guessed if row[1] != "JSON"}
        kept = ", ".join(
            f"{quote_text(name)}: {quote_text('VARCHAR' if name in names else kind)}"
            for name, kind, *_ in found
        )
        source = f"read_json({listed}, columns = {{{kept}}})"
    # A column of numbers and text comes as JSON; its values are taken out as text.
    mixed = [row[0] for row in found if row[1] == "JSON" and row[0] in as_text]
    taken = ", ".join(f"{quoted} ->> '$' as {quoted}" for quoted in map(quote_name, mixed))
    replaced = f" replace ({taken})" if taken else ""
    return engine.view(f"select *{replaced} from {source}")


def _check_rows_on_top(
    engine: DuckDB, source: str, found: Sequence[Sequence[str]], words: str
) -> None:
    """Raise if the rows are a list within one object, as many services answer."""
    inside = [name for name, kind, *_ in found if kind.startswith("STRUCT") and kind.endswith("]")]
    if inside and len(engine.execute(f"select 1 from {source} limit 2").fetchall()) == 1:
        raise unreadable(
            "{path} is one object with its rows in a list called {name}",
            words,
            "Save that list alone, as a list of objects or with one object to a line",
            name=repr(inside[0]),
        )


def files_of(*sources: Any) -> list[str]:
    """Return the files that sources stand for."""
    found: list[str] = []
    for source in sources:
        if isinstance(source, str | os.PathLike):
            text = os.fspath(source)
            url = re.match(r"(sqlite|duckdb):///", text)
            found += matching(unquote(urlsplit(text).path)[1:] if url else text)
    return found
