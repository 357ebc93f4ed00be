"""How files are read: headers, cells, sheets, archives, and what an upload may not do."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unheard as uh
from tests.tables.everyday import EXPECTED, STAYS, TABLE, archive, as_text, content_of, workbook
from tests.tables.stays import refused
from unheard.tables.sources.cells import read_cells, unite_tables
from unheard.tables.sources.column_names import ITEM, PEOPLE, PERSON, RATING
from unheard.tables.sources.header import find_header, name_columns
from unheard.tables.sources.inspection import ColumnSummary, guess
from unheard.tables.sources.reading import Reading, Roles
from unheard.tables.sources.web_tables import read_page
from unheard.web.api.tables import FORMS
from unheard.web.api.tasks import TASKS
from unheard.web.server.limits import MIB, Limits
from unheard.web.server.worker import _run_task

GUESTS = (("hotel", "n"), ("Alder", 50), ("Birch", 30))


def averages(source: Any, **asked: Any) -> dict[Any, tuple[int, float]]:
    found = uh.rate(source, "hotel", "stars", q=0.3, level=None, ranks=False, **asked)
    return {row["hotel"]: (row["n_ratings"], row["average"]) for row in found.to_pylist()}


def put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


# Headers.

NAMES = st.lists(
    st.text(alphabet="abcdefgh", min_size=1, max_size=6), min_size=2, max_size=6, unique=True
)


@settings(max_examples=40)
@given(NAMES, st.data())
def test_a_header_below_titles_is_found(names: list[str], data: st.DataObject) -> None:
    """Titles fill fewer columns than the rows below the header do."""
    titles = data.draw(st.lists(st.sampled_from([[], ["Title"]]), max_size=5))
    cells = st.tuples(*[st.text(alphabet="xyz", min_size=1)] * len(names))
    rows = data.draw(st.lists(cells, min_size=1, max_size=9))
    if len(names) == 2:  # a title is as wide as half of the table
        titles = titles[: len(rows)]
    assert find_header([*titles, names, *rows], None) == len(titles)


@given(NAMES, st.lists(st.lists(st.sampled_from(["a", "hotel", 5, ""]), max_size=6), max_size=9))
def test_the_first_row_with_all_that_is_wanted_is_the_header(
    names: list[str], rows: list[list[Any]]
) -> None:
    wanted = [*names, "stars"]
    assert find_header([*rows, [*wanted, "more"], wanted], wanted) == len(rows)


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["hotel", 1, 2, 3], ["A", 5, 0, 9]], 0),  # counts, named by ratings
        ([["hotel", "3", "2", "1"], ["A", "5", "0", "9"]], 0),
        ([["hotel", "2024"], ["A", 5], ["B", 4]], 0),  # a year is no rating
        ([["A", "5"], ["B", "4"]], None),
        ([["2024-05-01", "good"], ["2024-05-02", "bad"]], None),
        ([["", "hotel", "stars"], [0, "A", 5], [1, "B", 4]], 0),  # the numbers of rows
        ([[], ["hotel", "stars"]], 1),
        ([["hotel", "stars"]], 0),
    ],
)
def test_names_and_values_are_told_apart(rows: list[list[Any]], header: int | None) -> None:
    assert find_header(rows, None) == header


@given(st.lists(st.sampled_from(["hotel", "Hotel", "stars ", "stars", "", "a\nb", "column 2"])))
def test_every_column_has_a_name_of_its_own(cells: list[str]) -> None:
    names = [name.lower() for name in name_columns(cells)]
    assert len(names) == len(cells)
    assert all(name == name.strip() for name in names)
    if "column 2" not in cells:
        assert len(set(names)) == len(names)


def test_a_stated_header(tmp_path: Path) -> None:
    text = f"hotel,stars,2023\nhotel,stars,2024\n{as_text(STAYS)}"
    path = put(tmp_path / "stays.csv", text.encode())
    refused(path, "stars='stars'", uh.DataError)
    assert averages(path, header=2) == EXPECTED
    refused(path, "has no row 9: it has 7 rows", header=9)
    book = tmp_path / "stays.xlsx"
    workbook(Data=[["hotel", "stars"], ["hotel", "stars"], *STAYS])(book)
    assert averages(book, header="2") == EXPECTED
    refused(book, "has no row 99: it has 7 rows", header=99)
    numbered = put(tmp_path / "numbers.csv", b"7,5\n7,4\n8,3\n")
    found = uh.rate(numbered, "1", "2", q=0.3, header="none").to_pylist()
    assert sorted((row["1"], row["average"]) for row in found) == [("7", 4.5), ("8", 3.0)]


@pytest.mark.parametrize("packed", [False, True])
def test_an_unquoted_comma(tmp_path: Path, packed: bool) -> None:
    text = "hotel,stars,comment\n" + "A,4,ok\n" * 7 + "B,3,nice, really\n" + "A,4,ok\n" * 90
    path = put(
        tmp_path / f"stays.csv{'.gz' * packed}",
        gzip.compress(text.encode()) if packed else text.encode(),
    )
    words = (
        r"Line 9 of .* has 4 cells, and the header 3: 'B,3,nice,really'\. Put text that holds a "
        r"comma in double quotes, or remove"
    )
    refused(path, words)


# Cells.


def cells(*rows: Any, wanted: tuple[str, ...] | None = None) -> pa.Table:
    return read_cells(rows, Roles(wanted=wanted), Reading(header=1), "stays").columns


def test_columns_of_cells_have_one_type() -> None:
    day, moment = date(2024, 5, 1), datetime(2024, 5, 1, 12)
    found = cells(
        ["whole", "real", "day", "moment", "mixed", "flag", "time", "empty"],
        [5.0, 0.5, day, day, 5.0, True, time(12), ""],
        [2.0**53, 1, None, moment, "n/a", False, "", None],
        ["", "", "", "", 0.5, "", "", ""],
    )
    assert {name: str(found[name].type) for name in found.column_names[:-1]} == {
        "whole": "int64",
        "real": "double",
        "day": "date32[day]",
        "moment": "timestamp[us]",
        "mixed": "string",
        "flag": "bool",
        "time": "string",
    }
    assert found["mixed"].to_pylist() == ["5", "n/a", "0.5"]
    assert found["whole"].to_pylist() == [5, 2**53, None]


def test_a_type_that_changes_far_below_is_that_of_the_column() -> None:
    rows = [[float(at), at, date(2024, 5, 1)] for at in range(10_000)]
    found = cells(["text", "real", "moment"], *rows, ["n/a", 0.5, datetime(2024, 5, 1, 12)])
    assert found["text"].to_pylist()[-2:] == ["9999", "n/a"]
    assert [str(found[name].type) for name in ("real", "moment")] == ["double", "timestamp[us]"]
    assert found.num_rows == 10_001


def test_rows_without_a_value_are_no_rows() -> None:
    found = cells(["hotel", "stars"], [], ["A", 5], ["", None], ["B"], [], wanted=("stars",))
    assert found.to_pydict() == {"stars": [5, None]}


def test_tables_are_united_by_name() -> None:
    found = unite_tables([cells(["a", "b"], [1, 2]), cells(["b", "c"], ["x", 0.5])])
    assert found.to_pylist() == [{"a": 1, "b": "2", "c": None}, {"a": None, "b": "x", "c": 0.5}]


def test_cells_of_a_page_that_span_others(tmp_path: Path) -> None:
    page = (
        "<html><table><tr><th rowspan=2>hotel<th colspan=2>Guests<tr><th>stars<th>day"
        "<tr><td rowspan=2>Alder<td>5<td>Mon<tr><td>4<td>Tue<tr><td>Birch<td>3<td>Wed</table>"
    )
    path = put(tmp_path / "stays.html", page.encode())
    found, _ = read_page(path, Roles(), Reading(), "stays")
    assert found.to_pydict() == {
        "hotel": ["Alder", "Alder", "Birch"],
        "stars": [5, 4, 3],
        "day": ["Mon", "Tue", "Wed"],
    }
    path.write_text(page + page)
    refused(path, r"has 2 sheets to choose from\. .* sheet='table 1' or sheet='table 2'")


# Several sheets, several files.


def test_a_sheet_beside_the_one_that_is_read(tmp_path: Path) -> None:
    path = tmp_path / "stays.xlsx"
    workbook(Stays=TABLE, Guests=GUESTS)(path)
    found = uh.rate(path, "hotel", "stars", q=0.3, sheet="stays", n_table="Guests", sort="item")
    assert found["n"].to_pylist() == [50, 30]
    own = tmp_path / "guests.xlsx"
    workbook(Guests=GUESTS)(own)
    found = uh.rate(path, "hotel", "stars", q=0.3, sheet=1, n_table=own, sort="item")
    assert found["n"].to_pylist() == [50, 30]
    refused(own.with_name("plain.csv"), "does not exist")
    put(own.with_name("plain.csv"), as_text(TABLE).encode())
    refused(own.with_name("plain.csv"), "2 sheets to choose from. Save the one", n_table=path)
    refused(own.with_name("plain.csv"), "which has no sheets", uh.OptionError, sheet="Guests")
    refused(path, "which is not text", uh.OptionError, encoding="utf-8", sheet=1)
    workbook(Stays=TABLE, Empty=[])(path)
    refused(path, "Sheet 'Empty' of .* is empty", sheet="Empty")


def test_files_of_one_pattern(tmp_path: Path) -> None:
    for at, encoding in enumerate(("utf-8", "utf-16", "cp1252")):
        put(tmp_path / f"{at}.csv", "hotel,stars\nZürich,5\n".encode(encoding))
        workbook(Data=[["stars", "hotel"], [5, "Zürich"]])(tmp_path / f"{at}.xlsx")
    with pytest.warns(uh.ReadingWarning) as told:
        assert averages(tmp_path / "*.csv") == {"Zürich": (3, 5.0)}
    assert [str(one.message).rpartition("as ")[2] for one in told] == ["UTF-16.", "Windows-1252."]
    assert averages(tmp_path / "*.xlsx") == {"Zürich": (3, 5.0)}
    refused(tmp_path / "*", "are of several formats: csv, workbook")


def test_no_flipped_bit_of_a_workbook_goes_unnoticed(tmp_path: Path) -> None:
    path = tmp_path / "stays.xlsx"
    workbook(Data=TABLE)(path)
    packed = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(packed)) as book:
        sheet = book.getinfo("xl/worksheets/sheet1.xml")
    refusals = 0
    for bit in range(8 * sheet.header_offset, 8 * (sheet.header_offset + sheet.compress_size), 97):
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            assert averages(path) == EXPECTED, f"bit {bit}"
        except uh.SourceError:
            refusals += 1
    assert refusals > 10


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    document = {"[Content_Types].xml": b"x", "word/document.xml": b"x"}
    archive(document)(tmp_path / "letter.docx")
    refused(tmp_path / "letter.docx", "is an archive without a table")
    inner = content_of(archive({"stays.csv": b"hotel,stars\n"}), ".zip")
    archive({"stays.zip": inner})(tmp_path / "twice.zip")
    refused(tmp_path / "twice.zip", "stays.zip in .*twice.zip is an archive inside an archive")
    archive({"stays.csv": as_text(TABLE).encode()})(tmp_path / "locked.zip")
    locked = bytearray((tmp_path / "locked.zip").read_bytes())
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    refused(put(tmp_path / "locked.zip", bytes(locked)), "is encrypted. Unpack it")
    sheet = b"<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'/>"
    refused(put(tmp_path / "export.xls", sheet), "is an XML file. Open it in a spreadsheet")
    refused(put(tmp_path / "old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(999)), "workbook")
    far = tmp_path / "far.xlsx"
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "hotel", 5
    book.save(far)
    refused(
        far, "1,048,576 rows and 16,384 columns .* Delete the cells that are far from the table"
    )


def test_no_column_is_what_is_rated_and_how(tmp_path: Path) -> None:
    path = put(tmp_path / "stays.csv", as_text(TABLE).encode())
    with pytest.raises(uh.ColumnError, match="rating names the same column as item; got 'stars'"):
        uh.rate(path, "stars", "stars", q=0.3)


# Uploads.


def uploaded(content: bytes, kind: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, Any]:
    """What the worker answers about a table, of at most 64 KiB when it arrives."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    limits = Limits(memory=512 * MIB, bytes=64 * 1024)
    most = limits.describe() | {"memory": limits.memory}
    with tempfile.TemporaryDirectory() as folder, monkeypatch.context() as patch:
        patch.chdir(folder)
        put(Path(folder, FORMS[kind]), content)
        given = {"item": "hotel", "rating": "stars", "q": "0.3"}
        upload = {"folder": folder, "file": FORMS[kind], "limits": most}
        answer = _run_task(TASKS["rate"], {"upload": upload, "given": given, "as_csv": False})
    return answer.status, json.loads(answer.content)


@pytest.mark.parametrize("kind", ["application/gzip", "application/zip", "xlsx"])
def test_what_unpacks_to_too_much_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"hotel,stars\n" + b"Alder,5\n" * 200_000
    if kind == "xlsx":
        kind = next(one for one, name in FORMS.items() if name == "table.xlsx")
        small = content_of(workbook(Data=TABLE), ".xlsx")
        packed = io.BytesIO(small)
        with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as book:
            book.writestr("xl/media/image1.png", text)
        bomb = packed.getvalue()
    elif kind == "application/zip":
        small = content_of(archive({"stays.csv": as_text(TABLE).encode()}), ".zip")
        bomb = content_of(archive({"stays.csv": text}), ".zip")
    else:
        small, bomb = gzip.compress(as_text(TABLE).encode()), gzip.compress(text)
    assert len(bomb) < 16 * 1024
    status, found = uploaded(bomb, kind, monkeypatch)
    assert (status, found["code"]) == (422, "too_large")
    assert "has more than 1,048,576 bytes when unpacked" in found["detail"]
    assert uploaded(small, kind, monkeypatch)[0] == 200


def test_a_zip_file_cannot_lie_about_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"hotel,stars\n" + b"Alder,5\n" * 200_000
    bomb = content_of(archive({"stays.csv": text}), ".zip")
    bomb = bomb.replace(len(text).to_bytes(4, "little"), (99).to_bytes(4, "little"))
    status, found = uploaded(bomb, "application/zip", monkeypatch)
    assert (status, found["code"]) == (422, "unreadable_source")
    assert "damaged zip file" in found["detail"]


# What columns are called.


@pytest.mark.parametrize(
    ("item", "rating", "people"),
    [
        ("Hotel", "Sterne", "Gäste"),
        ("Lehrveranstaltung", "Bewertung", "Anzahl der Teilnehmer"),
        ("Kurs", "Note", "Studierende"),
        ("produit", "étoiles", "nombre de clients"),
        ("cours", "note", "inscrits"),
        ("producto", "calificación", "número de clientes"),
        ("nombre", "estrellas", "invitados"),
        ("prodotto", "voto", "iscritti"),
        ("curso", "avaliação", "alunos"),
        ("cursus", "beoordeling", "aantal deelnemers"),
        ("course_title", "overall rating", "number of students"),
    ],
)
def test_names_in_some_languages(item: str, rating: str, people: str) -> None:
    assert RATING.match(rating)
    assert ITEM.search(item)
    assert not PERSON.search(item)
    assert PEOPLE.fullmatch(people)
    assert not RATING.match(item)
    assert not PEOPLE.fullmatch(item)
    assert not PEOPLE.fullmatch(rating)


@given(
    st.lists(
        st.builds(
            ColumnSummary,
            st.sampled_from(
                ["hotel", "stars", "n", "1 star", "2 stars", "guests", "x", "note", "Kurs"]
            ),
            st.sampled_from(["whole", "real", "text", "time"]),
            st.integers(0, 30),
            st.just(0),
            st.just(1.0),
            st.just(5.0),
            st.just(1.0),
            st.just(5.0),
            st.just(()),
        ),
        unique_by=lambda column: column.name,
    )
)
def test_no_column_is_guessed_to_be_two_things(columns: list[ColumnSummary]) -> None:
    found = guess(columns, 30)
    used = [*found.item, *found.counts, *filter(None, (found.rating, found.n_column))]
    assert len(used) == len(set(used))
    assert not (found.rating and found.counts)


def test_numbers_far_below_are_read_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    rows = "".join(f"A{at % 9};5;2;90000\n" for at in range(101_000))
    path.write_text(f"hotel;stars;w;n\n{rows}B;4;2.7;1.000\nB;2;1;1.000\n")
    asked: dict[str, Any] = {"scale": "1:5", "q": 0.3, "ranks": False, "sort": "item"}
    with pytest.warns(uh.ReadingWarning, match="In column n, 1.000 was read as 1000"):
        found = uh.rate(path, "hotel", "stars", n_column="n", **asked)
    assert found["n"].to_pylist() == [90000] * 9 + [1000]
    weighted = uh.rate(path, "hotel", "stars", weight="w", **asked)
    assert weighted["average"].to_pylist()[-1] == pytest.approx((4 * 2.7 + 2) / 3.7)
    counts = "".join(f"A{at};1;2\n" for at in range(101_000))
    path.write_text(f"hotel;n1;n2\n{counts}B;2.7;1\n")
    with pytest.raises(uh.DataError, match="1 row has a count that is not a whole number"):
        uh.rate(path, "hotel", counts=["n1", "n2"], q=0.3)
