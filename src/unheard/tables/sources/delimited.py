"""Delimited text, as spreadsheets and programs write it, and how DuckDB reads it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from unheard.errors import QueryError
from unheard.tables.engines.duckdb import DuckDB, quote_name, quote_text
from unheard.tables.sources.cells import note_row
from unheard.tables.sources.header import EXPLAINED, write_cell
from unheard.tables.sources.lines import (
    delimiter_stated,
    find_lines,
    has_blank_rows,
    refuse_long_row,
)
from unheard.tables.sources.parts import Part
from unheard.tables.sources.reading import FileFindings, Reading, ReadingNote, Roles

_SIGNS = {"delim": "Delimiter", "quote": "Quote", "escape": "Escape", "comment": "Comment"}
"""Signs with a meaning: how each is stated, and how DuckDB reports it."""

_MONTHS = 12


@dataclass(frozen=True)
class Delimited:
    """Files of delimited text.

    Attributes
    ----------
    engine
        The engine that reads them.
    paths
        Their names, as DuckDB reads them literally.
    settings
        What DuckDB is told about them.
    """

    engine: DuckDB
    paths: Sequence[str]
    settings: Mapping[str, str]

    def with_dialect(self, **more: str) -> Delimited:
        """Return the same files with further settings."""
        return replace(self, settings={**self.settings, **more})

    def source(self, function: str = "read_csv", *, header: str = "true") -> str:
        """Write the table that DuckDB finds in the files."""
        said = {"header": header, **self.settings}
        settings = ", ".join(f"{name} = {value}" for name, value in said.items())
        listed = ", ".join(map(quote_text, self.paths))
        return f"{function}({f'[{listed}]' if len(self.paths) > 1 else listed}, {settings})"

    def columns(self) -> dict[str, str]:
        """Return the columns that DuckDB finds, and their types."""
        described = self.engine.execute(f"describe select * from {self.source()}").fetchall()
        return {row[0]: row[1] for row in described}

    def looked_at(self, wanted: Collection[str] | None) -> tuple[Delimited, dict[str, str], int]:
        """Return the files with the settings that DuckDB detects, their columns, and lines skipped.

        DuckDB takes long to guess how many columns are written, and longer to describe them. Of a
        single file it tells what it has guessed, and need not do so again.
        """
        if wanted and len(self.paths) == 1:
            asked = ", ".join((*_SIGNS.values(), "SkipRows", "Columns"))
            query = f"select {asked} from {self.source('sniff_csv')}"
            *found, skipped, columns = self.engine.execute(query).fetchall()[0]
            kinds = {one["name"]: one["type"] for one in columns}
            if kinds.keys() >= {*wanted}:
                said = (quote_text("" if sign == "(empty)" else sign) for sign in found)
                return self.with_dialect(**dict(zip(_SIGNS, said, strict=True))), kinds, skipped
        return self, self.columns(), 0


def read_delimited(
    engine: DuckDB,
    paths: Sequence[str],
    parts: Sequence[Part],
    roles: Roles,
    reading: Reading,
    *,
    tabs: bool,
) -> tuple[exp.Expr, FileFindings]:
    """Let DuckDB read files of delimited text.

    Parameters
    ----------
    engine
        The engine that reads.
    paths
        The files' names, as DuckDB reads them literally.
    parts
        What is known of the files.
    roles, reading
        What is needed of them, and what was said about the header.
    tabs
        Whether there are tabs between the columns.
    """
    top = parts[0]
    files = Delimited(engine, paths, {"sample_size": "100000"})
    if len(paths) > 1:  # of a single file it changes nothing and takes as long again
        files = files.with_dialect(union_by_name="true")
    mark = delimiter_stated(top.head)
    if mark is not None:  # as Excel begins a file
        files = files.with_dialect(skip="1", delim=quote_text(mark))
    elif tabs:
        files = files.with_dialect(delim="'\t'")
    files, found, findings = _find_columns(files, top, roles, reading)
    names = _name(files, found, roles) if findings.has_header else {one: one for one in found}
    texts = {there for there, name in names.items() if name in roles.as_text}
    decimals = {
        there
        for there, name in names.items()
        if (not roles.is_whole(name) if roles.ratings is None else name in roles.ratings)
    }
    if re.search(rb"\d,\d", top.head) and any(found[there] == "VARCHAR" for there in decimals):
        with_commas = files.with_dialect(decimal_separator="','")
        more = _numbers_with_commas(with_commas, found, roles.wanted)
        if decimals & more:
            files, texts = with_commas, (texts | more) - decimals
    # Types are found in the first rows. In later ones a point may stand for thousands, and DuckDB
    # rounds 2.7 where it has found whole numbers.
    numbers = {there for there in names if found[there] in ("BIGINT", "DOUBLE")} - texts
    texts |= {there for there in numbers if roles.is_whole(names[there])}
    asked = {there for there, name in names.items() if name in (roles.wanted or ())}
    doubles = {there for there in numbers & asked - texts if names[there] != roles.time}
    formats = {
        there: _find_time_format(files, there, top.head)
        for there, name in names.items()
        if name == roles.time
    }
    texts |= {
        there
        for there, form in formats.items()
        if form is not None or _is_ambiguous(files, there, found[there], top.head)
    }
    notes = (note for there, form in formats.items() for note in _note_times(names[there], form))
    findings = replace(findings, notes=(*findings.notes, *notes))
    types = dict.fromkeys(sorted(texts), "VARCHAR") | dict.fromkeys(sorted(doubles), "DOUBLE")
    if types:
        kept = ", ".join(f"{quote_text(there)}: '{kind}'" for there, kind in types.items())
        files = files.with_dialect(types=f"{{{kept}}}")
    every = list(names)
    if roles.wanted and {*roles.wanted} <= {*names.values()}:
        unread = tuple(name for name in names.values() if name not in roles.wanted)
        findings = replace(findings, unread=unread)
        names = {there: name for there, name in names.items() if name in roles.wanted}
    selected = ", ".join(
        f"{_write_time(there, formats.get(there))} as {quote_name(name)}"
        for there, name in names.items()
    )
    rows = "" if not any(map(has_blank_rows, parts)) else _write_filter(every)
    return engine.view(f"select {selected} from {files.source()}{rows}"), findings


def _find_columns(
    files: Delimited, top: Part, roles: Roles, reading: Reading
) -> tuple[Delimited, dict[str, str], FileFindings]:
    """Find the header and the columns: as DuckDB does, unless that misses what is needed."""
    failed = None
    if reading.header is None:
        try:
            looked_at, found, skipped = files.looked_at(roles.wanted)
            names = {*_name(looked_at, found, roles).values()}
            is_plain = EXPLAINED.encode() not in top.head
            if is_plain and roles.wanted and {*roles.wanted} <= names:
                more = skipped > int(files.settings.get("skip", "0"))
                notes = (note_row(top.words, skipped),) if more else ()
                return looked_at, found, FileFindings(notes=notes)
        except QueryError as error:
            failed = error
    lines = find_lines(top, files.settings.get("delim"), roles.wanted, reading)
    is_found = not lines.renames and failed is None and reading.header is None
    if is_found and lines.names == list(found):
        return looked_at, found, FileFindings(notes=lines.notes)
    # In parallel DuckDB refuses line breaks within quotes where it fills rows up.
    said = {"skip": str(lines.skip), "null_padding": "true", "parallel": "false"}
    if lines.delimiter is not None:
        said["delim"] = quote_text(lines.delimiter)
    if lines.renames:
        listed = ", ".join(map(quote_text, lines.names))
        said |= {"header": "false", "names": f"[{listed}]"}
    files = files.with_dialect(**said)
    try:
        found = files.columns()
    except QueryError as error:
        refuse_long_row(top, lines)
        raise (failed or error) from None
    return files, found, FileFindings(has_header=lines.has_header, notes=lines.notes)


_SHORT_DATE = r"(\d{1,2})[/-](\d{1,2})[/-]\d{2,4}\b"
"""A date whose first number may be the day or the month."""


def _is_ambiguous(files: Delimited, name: str, kind: str, head: bytes) -> bool:
    """Whether dates may be read day first or month first: then DuckDB has taken one at will."""
    if not kind.startswith(("DATE", "TIMESTAMP")) or not re.search(_SHORT_DATE.encode(), head):
        return False
    rows = files.with_dialect(all_varchar="true").source()
    numbers = ", ".join(
        f"max(try_cast(regexp_extract({quote_name(name)}, {quote_text(_SHORT_DATE)}, {at}) as int))"
        for at in (1, 2)
    )
    (largest,) = files.engine.execute(f"select {numbers} from {rows}").fetchall()
    return all(number is not None and number <= _MONTHS for number in largest)


_LOCAL_TIME = re.compile(
    r"\d{1,2}(?P<sign>[./-])\d{1,2}(?P=sign)(?P<year>\d{4}|\d\d)"
    r"(?:(?P<gap>,? )\d{1,2}:\d\d(?P<seconds>:\d\d)?(?P<half> [AaPp][Mm])?)?"
)
"""A date as people write it, with the time of day or without."""


def _find_time_format(files: Delimited, name: str, head: bytes) -> str | None:
    """Return how all times of a column are written; nothing if unclear, None if otherwise.

    DuckDB takes 31.01.24 for a day of 2031, and fails where times of day come after such dates.
    """
    if not re.search(rb"\d[./-]\d{1,2}[./-]\d\d", head):
        return None
    value = f"trim({quote_name(name)})"
    rows = f"{files.with_dialect(all_varchar='true').source()} where {value} <> ''"
    first = files.engine.execute(f"select {value} from {rows} limit 1").fetchone()
    written = None if first is None else _LOCAL_TIME.fullmatch(first[0])
    if written is None:
        return None
    clock = ""
    if written["gap"]:
        clock = written["gap"] + ("%I:%M" if written["half"] else "%H:%M")
        clock += ":%S" * bool(written["seconds"]) + " %p" * bool(written["half"])
    orders = ["%d.%m.%Y"] if written["sign"] == "." else ["%d.%m.%Y", "%m.%d.%Y"]
    if len(written["year"]) == 2:
        orders = [order.lower() for order in orders] + ["%y.%m.%d"] * (written["sign"] != ".")
    forms = [order.replace(".", written["sign"]) + clock for order in orders]
    # Years of two digits are read as ones of four as well, in the first century.
    fits = ", ".join(
        f"bool_and(coalesce(year(try_strptime({value}, {quote_text(form)})) > 99, false))"
        for form in forms
    )
    (found,) = files.engine.execute(f"select {fits} from {rows}").fetchall()
    fitting = [form for form, is_one in zip(forms, found, strict=True) if is_one]
    return fitting[0] if len(fitting) == 1 else ""


def _note_times(name: str, form: str | None) -> tuple[ReadingNote, ...]:
    """Say which number of a date is the day, where all of them may be."""
    if form is None or not form.startswith("%d.%m.%y"):
        return ()
    return (ReadingNote(f"In column {name}, dates were read as day, month and year."),)


def _write_time(name: str, form: str | None) -> str:
    """Write the expression for a column, of times in a format that is known."""
    if not form:
        return quote_name(name)
    time = f"strptime(nullif(trim({quote_name(name)}), ''), {quote_text(form)})"
    return time if "%M" in form else f"{time}::date"


def _write_filter(columns: Sequence[str]) -> str:
    """Leave out rows without any value."""
    texts = ", ".join(f"{quote_name(name)}::varchar" for name in columns)
    return f" where coalesce({texts}) is not null"


def _numbers_with_commas(
    files: Delimited, before: Mapping[str, str], wanted: Collection[str] | None
) -> set[str]:
    """Return the columns that decimal commas turn from text to numbers, unless others suffer."""
    try:
        _, found, _ = files.looked_at(wanted)
    except QueryError:
        return set()  # commas are something else here
    changed = {one for one in before if found.get(one) != before[one]}
    fine = all((before[one], found.get(one)) == ("VARCHAR", "DOUBLE") for one in changed)
    return changed if fine else set()


def _name(files: Delimited, found: Collection[str], roles: Roles) -> dict[str, str]:
    """Name columns on one line, as in sheets, unless somebody asks for one as it is written."""
    names = _told_apart(files, list(found))
    wanted = roles.wanted or ()
    plain = {there: name if name in wanted else write_cell(name) for there, name in names.items()}
    return plain if len({*plain.values()}) == len(names) else names


def _told_apart(files: Delimited, names: list[str]) -> dict[str, str]:
    """Number columns that share a name, so that the first of them is not taken by mistake."""
    plain = {name: name for name in names}
    folded = {name.lower() for name in names}
    # DuckDB has called the second of them by its name and _1.
    if not any(re.sub(r"_\d+$", "", one) in folded for one in folded if re.search(r"_\d+$", one)):
        return plain
    rows = files.with_dialect(all_varchar="true").source(header="false")
    heading = files.engine.execute(f"select * from {rows} limit 1").fetchone()
    if heading is None or len(heading) != len(names):
        return plain
    given = [(cell or "").strip().lower() for cell in heading]
    times, seen = Counter(given), Counter[str]()
    called: dict[str, str] = {}
    for name, cell in zip(names, given, strict=True):
        if cell and times[cell] > 1:
            seen[cell] += 1
            plain[name] = f"{called.setdefault(cell, name)} ({seen[cell]})"
    return plain
