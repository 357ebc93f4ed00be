"""Everyday files: who writes each, and what a person would take it for.

Every file is made by the program that people make it with, or byte by byte as that program does.
"""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import re
import shlex
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeAlias

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
import xlsxwriter
import xlwt

from tests.tables.xlsb import write_xlsb
from unheard.errors import PYTHON, Reference, Surface
from unheard.options.surfaces import REST

Maker: TypeAlias = Callable[[Path], None]
Rows: TypeAlias = Sequence[Sequence[Any]]

STAYS: Rows = (("Alder", 5), ("Alder", 4), ("Birch", 3), ("Birch", 5), ("Birch", 1))
TABLE: Rows = (("hotel", "stars"), *STAYS)
EXPECTED = {"Alder": (2, 4.5), "Birch": (3, 3.0)}
UMLAUTS: Rows = (("hotel", "stars"), ("Älpli", 5), ("Älpli", 4), ("Zürich", 2))
UMLAUTS_EXPECTED = {"Älpli": (2, 4.5), "Zürich": (1, 2.0)}
CYRILLIC: Rows = (("отель", "stars"), ("Берёза", 5), ("Берёза", 4), ("Ольха", 2))
CYRILLIC_EXPECTED = {"Берёза": (2, 4.5), "Ольха": (1, 2.0)}
COUNTS: Rows = (("Alder", 0, 10, 0, 1234, 2000), ("Birch", 7, 0, 0, 3, 1000))
COUNTS_EXPECTED = {"Alder": (3244, 4.610358), "Birch": (1010, 4.969307)}
GROUPED: Rows = [(name, at, n) for name, *many in COUNTS for at, n in enumerate(many, 1)]
FIVE = ("n1", "n2", "n3", "n4", "n5")
BY_RATING = {"item": "hotel", "rating": "stars"}
BY_COUNTS = {"item": "hotel", "counts": FIVE}


@dataclass(frozen=True)
class Everyday:
    """A file, what is asked of it, and what comes of that.

    Attributes
    ----------
    name
        What the file is called.
    make
        Writes it.
    expected
        By item: the number of ratings and their average, once the file is understood.
    asked
        The columns, and whatever else is asked.
    refusal
        What the message says, if the file is refused; a pattern.
    remedy
        Options that the message tells, as somebody then types them.
    instead
        What is then asked instead, where the message leaves it to the reader which columns to name.
    mended
        Makes the file that the message calls for, if no option helps.
    note
        What the note says about how the file was read; a pattern.
    """

    name: str
    make: Maker
    expected: Mapping[str, tuple[int, float]] = field(default_factory=lambda: EXPECTED)
    asked: Mapping[str, Any] = field(default_factory=lambda: BY_RATING)
    refusal: str = ""
    remedy: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    instead: Mapping[str, Any] = field(default_factory=dict)
    mended: Maker | None = None
    note: str = ""


# Text.


def as_text(rows: Rows, delimiter: str = ",", end: str = "\n", quoting: int = 0) -> str:
    file = io.StringIO()
    made = csv.writer(
        file, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL if quoting else 0
    )
    made.writerows(rows)
    return file.getvalue()


def text(content: str, encoding: str = "utf-8") -> Maker:
    return binary(content.encode(encoding))


def binary(content: bytes) -> Maker:
    def make(path: Path) -> None:
        path.write_bytes(content)

    return make


def frame(rows: Rows = TABLE) -> pd.DataFrame:
    return pd.DataFrame(list(rows[1:]), columns=list(rows[0]))


def thousands(separator: str) -> Rows:
    written = [
        [hotel, *(f"{many:,}".replace(",", separator) for many in counts)]
        for hotel, *counts in COUNTS
    ]
    return [("hotel", *FIVE), *written]


DAYS: Rows = (("hotel", "stars", "day"), *((*row, "2024-05-01") for row in STAYS))
TITLES = "Guest survey, summer\nExported 2024-09-01\n\n"
COMMENTS: Rows = (
    ("hotel", "comment", "stars"),
    *((hotel, f"fine,\nreally; {stars}", stars) for hotel, stars in STAYS),
)

SURVEY: Rows = (
    ("Id", "Collector", "Which did you visit?", "How good was it?", ""),
    ("", "", "hotel", "stars", "breakfast"),
    *((at, 400, *stay, 3) for at, stay in enumerate(STAYS)),
)
WITH_COMMENTS: Rows = (
    (*SURVEY[0], "Any comments?"),
    (*SURVEY[1], "Open-Ended Response"),
    *((*row, "fine,\nreally") for row in SURVEY[2:]),
)


QUALTRICS: Rows = (
    ("ResponseId", "hotel", "stars"),
    ("Response ID", "Which hotel?", "How was it?"),
    tuple(f'{{"ImportId":"{one}"}}' for one in ("_recordId", "QID1_TEXT", "QID2")),
    *((f"R_{at}", *stay) for at, stay in enumerate(STAYS)),
)
TWO_ENDS = "hotel,stars\r\nAlder,5\r\nAlder,4\nBirch,3\nBirch,5\r\nBirch,1\n"
LAST = "Alder,4\n"


def worded(*words: Any, name: str = "stars") -> Rows:
    """Write the words for one to five stars instead of these."""
    return [("hotel", name), *((hotel, words[stars - 1]) for hotel, stars in STAYS)]


# Workbooks.


def workbook(**sheets: Rows) -> Maker:
    """Let openpyxl write sheets."""

    def make(path: Path) -> None:
        made = openpyxl.Workbook()
        made.remove(made.active)
        for name, rows in sheets.items():
            sheet = made.create_sheet(name)
            for row in rows:
                sheet.append(list(row))
        made.save(_as_xlsx(path))
        _as_xlsx(path).rename(path)

    return make


def _as_xlsx(path: Path) -> Path:
    return path.with_suffix(".made.xlsx")


def hidden(path: Path) -> None:
    workbook(Notes=[["Do not share"]], Data=TABLE)(path)
    made = openpyxl.load_workbook(path)
    made["Notes"].sheet_state = "hidden"
    made.save(path)


def formatted(path: Path) -> None:
    """Dates, percentages, a flag, an empty column, and numbers stored as decimals."""
    with pd.ExcelWriter(path, engine="xlsxwriter") as writer:
        table = frame().assign(
            day=datetime(2024, 5, 1), share=0.25, paid=[True, False, True, True, False], empty=None
        )
        table["stars"] = table["stars"].astype(float)
        table.to_excel(writer, index=False, sheet_name="Stays")
        percent = writer.book.add_format({"num_format": "0%"})
        writer.sheets["Stays"].set_column("D:D", 10, percent)


def offset(path: Path) -> None:
    """A title, then a table that begins in the middle of the sheet, as reports do."""
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        frame().to_excel(writer, index=False, startrow=5, startcol=2)
        sheet = writer.book.worksheets[0]
        sheet["C2"] = "Guest survey"
        sheet.merge_cells("C2:D2")
        sheet["C3"] = date(2024, 9, 1)


def merged_header(path: Path) -> None:
    """Counts under a heading that spans them, beside a name that spans both rows."""
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.append(["hotel", "Ratings"])
    sheet.append(["", *FIVE])
    for row in COUNTS:
        sheet.append(list(row))
    sheet.merge_cells("A1:A2")
    sheet.merge_cells("B1:F1")
    made.save(path)


def merged_items(path: Path) -> None:
    """Each hotel in one cell beside all its ratings."""
    made = openpyxl.Workbook()
    sheet = made.active
    for row in TABLE:
        sheet.append(list(row))
    sheet.merge_cells("A2:A3")
    sheet.merge_cells("A4:A6")
    made.save(path)


def formulas(*, computed: bool) -> Maker:
    """Ratings on a scale of 0 to 100 turned into stars, with the results or without."""

    def make(path: Path) -> None:
        with xlsxwriter.Workbook(path) as made:
            sheet = made.add_worksheet()
            sheet.write_row(0, 0, ["hotel", "points", "stars"])
            for at, (hotel, stars) in enumerate(STAYS, 1):
                sheet.write_row(at, 0, [hotel, 20 * stars])
                sheet.write_formula(at, 2, f"=B{at + 1}/20", None, stars if computed else "")
        if not computed:  # as programs write them that compute nothing
            loaded = openpyxl.load_workbook(path)
            loaded.save(path)

    return make


def numbers_as_text(path: Path) -> None:
    with xlsxwriter.Workbook(path) as made:
        sheet = made.add_worksheet()
        for at, row in enumerate(TABLE):
            for column, cell in enumerate(row):
                sheet.write_string(at, column, str(cell))


def percentages(path: Path) -> None:
    """Shares that are shown as percentages."""
    with xlsxwriter.Workbook(path) as made:
        sheet = made.add_worksheet()
        percent = made.add_format({"num_format": "0%"})
        for at, (hotel, stars) in enumerate(TABLE):
            sheet.write(at, 0, hotel)
            sheet.write(at, 1, stars / 5 if at else stars, percent)


def old_excel(path: Path) -> None:
    made = xlwt.Workbook()
    sheet = made.add_sheet("Stays")
    day = xlwt.easyxf(num_format_str="DD.MM.YYYY")
    for at, row in enumerate(UMLAUTS):
        for column, cell in enumerate(row):
            sheet.write(at, column, cell)
        sheet.write(at, 2, date(2024, 5, 1) if at else "day", day)
    made.save(str(path))


def open_document(path: Path) -> None:
    with pd.ExcelWriter(path, engine="odf") as writer:
        frame(UMLAUTS).assign(day=date(2024, 5, 1)).to_excel(writer, index=False, startrow=1)


def page(charset: str = "utf-8") -> str:
    table = frame(UMLAUTS).to_html(index=False)
    return f'<html><head><meta charset="{charset}"></head><h1>Export</h1>{table}</html>'


# Packed files.


def archive(members: Mapping[str, bytes]) -> Maker:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            for name, content in members.items():
                made.writestr(name, content)

    return make


def content_of(make: Maker, suffix: str) -> bytes:
    """What a maker writes."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix}"
        make(path)
        return path.read_bytes()


def packed(make: Maker, suffix: str) -> Maker:
    """Compress what a maker writes."""

    def make_packed(path: Path) -> None:
        path.write_bytes(gzip.compress(content_of(make, suffix)))

    return make_packed


def zstandard(path: Path) -> None:
    with pa.output_stream(str(path), compression="zstd") as file:
        file.write(PLAIN)


def zipped_workbook(path: Path) -> None:
    inner = content_of(workbook(Old=TABLE[:3], Data=TABLE), ".xlsx")
    archive({"stays.xlsx": inner})(path)


def cut_off(path: Path) -> None:
    path.write_bytes(content_of(workbook(Data=TABLE), ".xlsx")[:-400])


PLAIN = as_text(TABLE).encode()
JUNK = bytes(range(256)) * 20
DAMAGED = as_text([("hotel", "stars"), *[("Älpli Zürich", 5)] * 3, ("Basel", 4)]).encode()
DAMAGED = DAMAGED.replace("ü".encode(), b"\xfc", 1)

YES_OR_NO = {"Alder": (2, 1.0), "Birch": (3, 2 / 3)}
FLAGS = [True, True, False, True, True]
FLAGGED = pd.DataFrame({"hotel": [hotel for hotel, _ in STAYS], "recommended": FLAGS})
BY_FLAG = {"item": "hotel", "rating": "recommended"}
FORM = "Overall, how would you rate your stay?"
IN_WORDS: Sequence[tuple[str, Maker, Mapping[str, tuple[int, float]], Mapping[str, Any]]] = (
    ("google form.csv", text(as_text(worded(
        "Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree", name=FORM
    ), end="\r\n")), EXPECTED, {"item": "hotel", "rating": FORM}),
    ("amazon.csv", text(as_text(worded(*(f"{n}.0 out of 5 stars" for n in range(1, 6))))),
     EXPECTED, BY_RATING),
    ("bubbles.csv", text(as_text(worded(*(f"{n} of 5 bubbles" for n in range(1, 6))))),
     EXPECTED, BY_RATING),
    ("tripadvisor.csv", text(as_text(worded(
        "Terrible", "Poor", "Average", "Very good", "Excellent"
    ))), EXPECTED, BY_RATING),
    ("google business.csv", text(as_text(worded("ONE", "TWO", "THREE", "FOUR", "FIVE"))),
     EXPECTED, BY_RATING),
    ("emoji.csv", text(as_text(worded(*("⭐️" * n for n in range(1, 6))))), EXPECTED, BY_RATING),
    ("faces.csv", text(as_text(worded("😡", "☹️", "😐", "🙂", "😀"))), EXPECTED, BY_RATING),
    ("numbers in brackets.csv", text(as_text(worded(
        "Very bad (1)", "Bad (2)", "So-so (3)", "Good (4)", "Very good (5)"
    ))), EXPECTED, BY_RATING),
    ("keys.csv", text(as_text(worded(*(f"{n}\ufe0f\u20e3" for n in range(1, 6))))), EXPECTED,
     BY_RATING),
    ("half in words.csv", text(as_text(worded("1 star", "2 stars", "3", "4 stars", "5"))),
     EXPECTED, BY_RATING),
    ("swedish.csv", text(as_text(worded(
        "mycket missnöjd", "missnöjd", "varken eller", "nöjd", "mycket nöjd"
    ), ";")), EXPECTED, BY_RATING),
    ("half stars.csv", text(as_text(worded("½", "1½", "3", "4½", "5"))),
     {"Alder": (2, 4.75), "Birch": (3, 8.5 / 3)}, BY_RATING),
    ("grades.csv", text(as_text(worded("F", "D", "C", "B", "A", name="grade"))),
     {"Alder": (2, 3.5), "Birch": (3, 2.0)}, {"item": "hotel", "rating": "grade"}),
    ("percent.csv", text(as_text(worded("20%", "40%", "60 %", "80%", "100%"))),
     {"Alder": (2, 90.0), "Birch": (3, 60.0)}, BY_RATING),
    ("fractions.csv", text(as_text(worded("1/5", "2/5", "3/5", "4/5", "5/5"))), EXPECTED,
     BY_RATING),
    ("german.csv", text(as_text(worded(
        "sehr unzufrieden", "unzufrieden", "weder noch", "zufrieden", "sehr zufrieden",
        name="Zufriedenheit"), ";", "\r\n"), "cp1252"), EXPECTED,
     {"item": "hotel", "rating": "Zufriedenheit"}),
    ("russian.csv", text(as_text(worded(
        "ужасно", "плохо", "нормально", "хорошо", "отлично", name="оценка"))),
     EXPECTED, {"item": "hotel", "rating": "оценка"}),
    ("error cells.csv", text(as_text([*TABLE, ("Alder", "#N/A"), ("Birch", "n/a")])), EXPECTED,
     {**BY_RATING, "nulls": "drop"}),
    ("flags.csv", lambda path: FLAGGED.to_csv(path, index=False), YES_OR_NO, BY_FLAG),
    ("flags.xlsx", lambda path: FLAGGED.to_excel(path, index=False), YES_OR_NO, BY_FLAG),
    ("flags.parquet", FLAGGED.to_parquet, YES_OR_NO, BY_FLAG),
)  # fmt: skip
"""Files with ratings as words, which are recognised."""

ON_OTHER_SCALES: Sequence[tuple[str, Maker, Mapping[str, tuple[int, float]], str]] = (
    ("recommend.csv", text(as_text(worded(0, 3, 7, 9, 10))),
     {"Alder": (2, 9.5), "Birch": (3, 17 / 3)}, "0:10"),
    ("half points.csv", text(as_text(worded(1.0, 2.5, 3.0, 4.5, 5.0))),
     {"Alder": (2, 4.75), "Birch": (3, 3.0)}, "1:5:0.5"),
    ("points.csv", text(as_text(worded(10, 35, 60, 85, 100))),
     {"Alder": (2, 92.5), "Birch": (3, 170 / 3)}, "1:100"),
    ("tenths.csv", text(as_text(worded("1,0", "1,7", "2,3", "3,7", "5,0"), ";")),
     {"Alder": (2, 4.35), "Birch": (3, 8.3 / 3)}, "1:5:0.1"),
    ("percent cells.xlsx", percentages,
     {"Alder": (2, 0.9), "Birch": (3, 0.6)}, "0:1:0.1"),
)  # fmt: skip
"""Files with ratings on another scale than 1 to 5, which is likely from them."""

EVERYDAY = (
    # Delimited text.
    Everyday("plain.csv", text(as_text(TABLE))),
    Everyday(
        "grouped by item and rating.csv",
        text(as_text((("hotel", "stars", "n"), *GROUPED))),
        COUNTS_EXPECTED,
        asked={**BY_RATING, "frequency": "n"},
    ),
    Everyday(
        "grouped, German Excel.csv",
        text("Hotel;Sterne;Anzahl\r\nA;1;1.000\r\nA;5;3.000\r\nB;4;2.000\r\n"),
        {"A": (4000, 4.0), "B": (2000, 4.0)},
        asked={"item": "Hotel", "rating": "Sterne", "frequency": "Anzahl"},
        note="In column Anzahl, 1.000 was read as 1000",
    ),
    Everyday("quoted.csv", text(as_text(TABLE, quoting=1))),
    Everyday("semicolons.csv", text(as_text(TABLE, ";", "\r\n"))),
    Everyday(
        "decimal commas.csv",
        text("hotel;stars\r\nAlder;4,5\r\nAlder;3,5\r\nBirch;2\r\n"),
        {"Alder": (2, 4.0), "Birch": (1, 2.0)},
        {**BY_RATING, "scale": "1:5:0.5"},
    ),
    Everyday("tabs.tsv", text(as_text(TABLE, "\t"))),
    Everyday("tabs.txt", text(as_text(TABLE, "\t"))),
    Everyday("pipes.txt", text(as_text(TABLE, "|"))),
    Everyday("stated.csv", text("sep=;\r\n" + as_text(TABLE, ";", "\r\n"))),
    Everyday("stated.txt", text("sep=;\n" + as_text(TABLE, ";")),
             asked=BY_RATING | {"header": "2"}),
    Everyday("stated, title.csv", text("sep=;\r\nStays;\r\n" + as_text(TABLE, ";", "\r\n")),
             note="header .* was found in row 3"),
    Everyday("survey.csv", text(as_text(SURVEY)), asked=BY_RATING, note="found in row 2"),
    Everyday("survey with comments.csv", text(as_text(WITH_COMMENTS)), note="found in row 2"),
    Everyday("survey.xlsx", workbook(Data=SURVEY), asked=BY_RATING, note="found in row 2"),
    Everyday("comments.csv", text(as_text(COMMENTS))),
    Everyday("comments.tsv", text(as_text(COMMENTS, "\t", "\r\n"))),
    Everyday("crlf.csv", text(as_text(TABLE, end="\r\n"))),
    Everyday("old mac.csv", text(as_text(TABLE, end="\r"))),
    Everyday("old mac, accents.csv", text(as_text(UMLAUTS, end="\r"), "mac_roman"),
             UMLAUTS_EXPECTED, note="read as Mac Roman"),
    Everyday("no last line break.csv", text(as_text(TABLE).rstrip("\n"))),
    Everyday("trailing blank lines.csv", text(as_text(TABLE) + "\n\n\n")),
    Everyday(
        "trailing cells.csv",
        text(as_text([(*row, "", "") for row in TABLE]) + ",,,\r\n" * 3),
    ),
    Everyday("gap.csv", text("hotel,stars\nAlder,5\nAlder,4\n,\n" + as_text(STAYS[2:]))),
    Everyday("spaces.csv", text(as_text([(" hotel ", " stars"), *STAYS]))),
    Everyday("titles.csv", text(TITLES + as_text(DAYS)), note="header .* found in row 4"),
    Everyday(
        "padded titles.csv",
        text(f"Guest survey,,\r\n,,\r\n{as_text(DAYS, end=chr(13) + chr(10))}"),
        note="header .* found in row 3",
    ),
    Everyday(
        "no header.csv",
        text(as_text(STAYS)),
        refusal=r"has no header: its columns are numbered 1 to 2\. Name columns by number, as in",
        remedy={"item": "1"},
        instead={"rating": "2"},
        note="no header",
    ),
    Everyday(
        "two names alike.csv",
        text(as_text([("hotel", "stars", "stars"), *((*row, 1) for row in STAYS)])),
        refusal=r"no column 'stars'.*Its columns are hotel, stars \(1\), stars \(2\)",
        instead={"item": "hotel", "rating": "stars (1)"},
    ),
    Everyday(
        "footnote.csv",
        text(as_text(TABLE) + "\nSource: guest survey\n"),
        refusal="1 row has no rating .*Source: guest survey.*leave the row out with",
        remedy={"nulls": "drop"},
    ),
    Everyday("qualtrics.csv", text(as_text(QUALTRICS)), note="without the 2 rows below"),
    Everyday("qualtrics.tsv", text(as_text(QUALTRICS, "\t"), "utf-16"), note="without the 2 rows"),
    Everyday("qualtrics.xlsx", workbook(Data=QUALTRICS), note="without the 2 rows below"),
    Everyday("joined.csv", text(TWO_ENDS)),
    Everyday("joined late.csv", text(as_text(TABLE, end="\r\n") + "Alder,5\r\n" * 30_000 + LAST),
             {"Alder": (30_003, 150_013 / 30_003), "Birch": (3, 3)}),
    Everyday(
        "stray comma.csv",
        text("hotel,stars\nAlder,5\nAlder,4,\nBirch,3\nBirch,5\nBirch,1\n"),
        refusal="Line 3 of .* has 3 cells, and the header 2: 'Alder,4,'.* remove the surplus",
        mended=text(as_text(TABLE)),
    ),
    Everyday(
        "spaces between.txt",
        text(as_text(TABLE, " ")),
        refusal="it has one column, 'hotel stars'. Separate its columns by commas",
        mended=text(as_text(TABLE)),
    ),
    Everyday("index.csv", lambda path: frame().to_csv(path)),
    Everyday("semicolon index.csv", lambda path: frame().to_csv(path, sep=";", encoding="utf-16"),
             note="UTF-16"),
    Everyday("one column.csv", text("stars\n5\n4\n"), refusal=r"no column 'hotel'. It has stars\.",
             mended=text(as_text(TABLE))),
    Everyday(
        "line break in a name.csv",
        text('hotel,"stars\n(of five)"\nAlder,5\nAlder,4\nBirch,3\n'),
        {"Alder": (2, 4.5), "Birch": (1, 3.0)},
        {"item": "hotel", "rating": "stars (of five)"},
    ),
    Everyday("header only.csv", text("hotel,stars\n"), refusal="has no rows. Use a table with",
             mended=text(as_text(TABLE))),
    Everyday("empty.csv", binary(b""), refusal="is empty. Use a file with a header",
             mended=text(as_text(TABLE))),
    Everyday("blank.csv", binary(b"\n\r\n\n"), refusal="is empty. Use a file with a header",
             mended=text(as_text(TABLE))),
    Everyday("junk.csv", binary(JUNK), refusal="is a binary file. Use a CSV",
             mended=text(as_text(TABLE))),
    *(
        Everyday(name, binary(content), refusal=refusal, mended=text(as_text(TABLE)))
        for name, content, refusal in (
            ("survey.sav", b"$FL2@(#) SPSS DATA\0\2", "is an SPSS file. Save its table as CSV"),
            ("survey.dta", b"<stata_dta><header>\0", "is a Stata file. Save its table as CSV"),
            ("report.pdf", b"%PDF-1.4\nhotel,stars", "is a PDF file. Save its table as CSV"),
            ("packed.csv.bz2", b"BZh91AY&SY\0", "is a bzip2 file. Unpack it"),
            ("packed.7z", b"7z\xbc\xaf\x27\x1c\0", "is a 7-Zip archive. Unpack it"),
            ("nothing.zip", b"PK\5\6" + bytes(18), "is an archive without files. Create it again"),
        )
    ),
    # Counts.
    Everyday("counts.csv", text(as_text([("hotel", *FIVE), *COUNTS])), COUNTS_EXPECTED, BY_COUNTS),
    Everyday("counts, thousands.csv", text(as_text(thousands(","))), COUNTS_EXPECTED, BY_COUNTS,
             note="1,234 was read as 1234"),
    Everyday("counts, points.csv", text(as_text(thousands("."), ";")), COUNTS_EXPECTED, BY_COUNTS,
             note="1.234 was read as 1234"),
    Everyday("counts, spaces.csv", text(as_text(thousands("\u202f"), ";")), COUNTS_EXPECTED,
             BY_COUNTS, note="was read as 1234"),
    Everyday(
        "stars as columns.csv",
        text(as_text([("hotel", "1 star", *(f"{n} stars" for n in range(2, 6))), *COUNTS])),
        COUNTS_EXPECTED,
        {"item": "hotel", "counts": ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")},
    ),
    *(
        Everyday(f"counts of {names[0]}.csv", text(as_text([("hotel", *names), *COUNTS])),
                 COUNTS_EXPECTED, {"item": "hotel", "counts": names})
        for names in (
            ("Terrible", "Poor", "Average", "Very good", "Excellent"),
            tuple("★" * n for n in range(1, 6)),
        )
    ),
    Everyday(
        "best first.csv",
        text(as_text([("hotel", *(f"{n} stars" for n in range(5, 0, -1))),
                      *((hotel, *reversed(counts)) for hotel, *counts in COUNTS)])),
        COUNTS_EXPECTED,
        {"item": "hotel", "counts": tuple(f"{n} stars" for n in range(5, 0, -1))},
        refusal="lowest rating first",
        remedy={"counts": tuple(f"{n} stars" for n in range(1, 6))},
    ),
    Everyday(
        "pivot.xlsx",
        workbook(Data=[("hotel", *FIVE), ("Alder", None, 10, None, 1234, 2000), COUNTS[1]]),
        COUNTS_EXPECTED,
        BY_COUNTS,
        refusal="where nobody gave a rating, write 0",
        mended=workbook(Data=[("hotel", *FIVE), *COUNTS]),
    ),
    Everyday("counts as text.xlsx", workbook(Totals=thousands(",")), COUNTS_EXPECTED, BY_COUNTS,
             note="1,234 was read as 1234"),
    # Encodings.
    Everyday("mark.csv", text(as_text(UMLAUTS), "utf-8-sig"), UMLAUTS_EXPECTED),
    Everyday("unicode text.txt", text(as_text(UMLAUTS, "\t", "\r\n"), "utf-16"), UMLAUTS_EXPECTED,
             note="is not in UTF-8: it was read as UTF-16"),
    Everyday("big endian.csv", binary(b"\xfe\xff" + as_text(UMLAUTS).encode("utf-16-be")),
             UMLAUTS_EXPECTED, note="UTF-16"),
    Everyday("no mark.csv", text(as_text(UMLAUTS), "utf-16-le"), UMLAUTS_EXPECTED, note="UTF-16"),
    Everyday("latin.csv", text(as_text(UMLAUTS, ";", "\r\n"), "latin-1"), UMLAUTS_EXPECTED,
             note="Windows-1252"),
    Everyday("windows.csv", text(as_text([*UMLAUTS, ("“Süd” – 5 €", 3)], ";"), "cp1252"),
             {**UMLAUTS_EXPECTED, "“Süd” – 5 €": (1, 3.0)}, note="Windows-1252"),
    Everyday("cyrillic.csv", text(as_text(CYRILLIC)), CYRILLIC_EXPECTED,
             {"item": "отель", "rating": "stars"}),
    Everyday(
        "cyrillic, windows.csv",
        text(as_text(CYRILLIC), "cp1251"),
        CYRILLIC_EXPECTED,
        {"item": "отель", "rating": "stars"},
        refusal="encoding of .* cannot be detected.*state its encoding such as",
        remedy={"encoding": "cp1251"},
    ),
    Everyday(
        "japanese.csv",
        text(as_text([("ホテル", "評価"), *STAYS]), "shift_jis"),
        asked={"item": "ホテル", "rating": "評価"},
        refusal="has no column 'ホテル': it was read as Windows-1252, which has no such letters",
        remedy={"encoding": "shift_jis"},
    ),
    Everyday(
        "dos.csv",
        text(as_text(UMLAUTS), "cp850"),
        UMLAUTS_EXPECTED,
        refusal="encoding of .* cannot be detected",
        remedy={"encoding": "cp850"},
    ),
    Everyday(
        "damaged letter.csv",
        binary(DAMAGED),
        {"Ã„lpli Zürich": (1, 5.0), "Ã„lpli ZÃ¼rich": (2, 5.0), "Basel": (1, 4.0)},
        refusal="in UTF-8, but for a few characters that are damaged",
        remedy={"encoding": "cp1252"},
    ),
    # Excel and OpenDocument.
    Everyday("plain.xlsx", workbook(Sheet1=TABLE)),
    Everyday("pandas.xlsx", lambda path: frame().to_excel(path)),
    Everyday("formatted.xlsx", formatted),
    Everyday("offset.xlsx", offset, note="header .* found in row 6"),
    Everyday("merged header.xlsx", merged_header, COUNTS_EXPECTED, BY_COUNTS, note="row 2"),
    Everyday("merged items.xlsx", merged_items),
    Everyday("numbers as text.xlsx", numbers_as_text),
    Everyday("formulas.xlsx", formulas(computed=True)),
    Everyday(
        "formulas without results.xlsx",
        formulas(computed=False),
        refusal="formulas have no results.*Open it in a spreadsheet program and save it again",
        mended=formulas(computed=True),
    ),
    Everyday("hidden sheet.xlsx", hidden,
             note="Data .* the others have no table, or are hidden"),
    Everyday("cover.xlsx", workbook(Cover=[["Guest survey"], ["2024"]], Data=TABLE),
             note="Sheet Data"),
    Everyday("empty first sheet.xlsx", workbook(Sheet1=[], Data=TABLE),
             note="Data .* have no table"),
    Everyday(
        "years.xlsx",
        workbook(**{"2023": TABLE[:3], "Summer 2024": TABLE}),
        refusal="has 2 sheets to choose from",
        remedy={"sheet": "Summer 2024"},
    ),
    Everyday(
        "by number.xlsx", workbook(**{"2023": TABLE[:3], "2024": TABLE}),
        asked={**BY_RATING, "sheet": "2"},
    ),
    Everyday(
        "misspelt sheet.xlsx",
        workbook(Notes=[["Read me"]], Data=TABLE),
        asked={**BY_RATING, "sheet": "Dta"},
        refusal="has no sheet 'Dta'",
        remedy={"sheet": "Data"},
    ),
    Everyday(
        "blank sheets.xlsx", workbook(Sheet1=[], Sheet2=[]), refusal="has no sheet with data",
        mended=workbook(Sheet1=[], Sheet2=TABLE), note="Sheet2",
    ),
    Everyday(
        "cut off.xlsx",
        cut_off,
        refusal="is a damaged zip file.*Create or download it again",
        mended=workbook(Data=TABLE),
    ),
    Everyday(
        "no header.xlsx", workbook(Data=STAYS), refusal="no header", remedy={"item": "1"},
        instead={"rating": "2"}, note="no header",
    ),
    Everyday("workbook.csv", workbook(Data=TABLE)),
    Everyday("old.xls", old_excel, UMLAUTS_EXPECTED),
    Everyday("binary.xlsb", lambda path: write_xlsb(path, UMLAUTS), UMLAUTS_EXPECTED),
    Everyday("web export.xls", text(page()), UMLAUTS_EXPECTED),
    Everyday("web page.html", text(page(charset="windows-1252"), "cp1252"), UMLAUTS_EXPECTED,
             note="CP1252|Windows-1252"),
    Everyday("text export.xls", text(as_text(TABLE, "\t", "\r\n"))),
    Everyday("libre office.ods", open_document, UMLAUTS_EXPECTED),
    Everyday(
        "decimal commas as text.xlsx",
        workbook(Data=worded("1,0", "2,0", "3,0", "4,0", "5,0")),
        note="1,0 was read as 1.0",
    ),
    # Ratings as words.
    *(
        Everyday(name, make, expected, asked, "are (numbers and )?words, which may be read as",
                 {"labels": "auto"}, note="Words were read as ratings")
        for name, make, expected, asked in IN_WORDS
    ),
    Everyday(
        "words of its own.csv",
        text(as_text(worded("meh", "so-so", "fine", "wow", "WOW!"))),
        {"Alder": (2, 4.0), "Birch": (3, 8 / 3)},
        refusal="contains no numbers: 'WOW!' .*with the ratings in .*what each stands for, as in",
        instead={"labels": "meh=1,so-so=2,fine=3,wow=4"},
    ),
    # Other scales.
    *(
        Everyday(name, make, expected, refusal="f (this is a|these are) valid rating",
                 remedy={"scale": scale})
        for name, make, expected, scale in ON_OTHER_SCALES
    ),
    # Rows of programs.
    Everyday("lines.jsonl", lambda path: frame().to_json(path, orient="records", lines=True)),
    Everyday("records.json", lambda path: frame().to_json(path, orient="records")),
    Everyday("windows.jsonl", text(
        "\n".join(json.dumps(dict(zip(TABLE[0], row, strict=True))) for row in STAYS), "utf-16"
    ), note="UTF-16"),
    Everyday(
        "answer.json",
        text(json.dumps({"data": [dict(zip(TABLE[0], row, strict=True)) for row in STAYS]})),
        refusal="is one object with its rows in a list called 'data'. Save that list alone|"
        "does not contain rows. Send a list of objects",
        mended=lambda path: frame().to_json(path, orient="records"),
    ),
    Everyday(
        "cut off.jsonl",
        text('{"hotel": "Alder", "stars": 5}\n{"hotel": "Alder", "sta\n'),
        refusal=r"cannot be read as json: .*[^. ]\. Check the file",
        mended=lambda path: frame().to_json(path, orient="records", lines=True),
    ),
    Everyday("table.parquet", lambda path: frame().to_parquet(path)),
    # Packed files.
    Everyday("packed.csv.gz", packed(text(as_text(TABLE)), ".csv")),
    Everyday("packed unicode.csv.gz", packed(text(as_text(UMLAUTS), "utf-16"), ".csv"),
             UMLAUTS_EXPECTED, note="UTF-16"),
    Everyday("packed without saying so.csv", packed(text(as_text(TABLE)), ".csv")),
    Everyday("packed.xlsx.gz", packed(workbook(Data=TABLE), ".xlsx")),
    Everyday("packed.csv.zst", zstandard),
    Everyday(
        "cut off.csv.gz",
        binary(gzip.compress(PLAIN)[:-6]),
        refusal="is a damaged gzip file",
        mended=packed(text(as_text(TABLE)), ".csv"),
    ),
    Everyday("one file.zip", archive({"stays.csv": PLAIN})),
    Everyday("from a mac.zip", archive(
        {"data/": b"", "data/stays.csv": PLAIN, "__MACOSX/data/._stays.csv": b"x"}
    )),
    Everyday("with a note.zip", archive({"stays.csv": PLAIN, "readme.txt": b"Hello,\nthere"}),
             note="stays.csv of .* was read: its other files have no table"),
    Everyday("workbook.zip", zipped_workbook,
             refusal="stays.xlsx in .* has 2 sheets to choose from",
             remedy={"sheet": "Data"}),
    Everyday(
        "two files.zip",
        archive({"old.csv": as_text(TABLE[:3]).encode(), "new.csv": PLAIN}),
        refusal="has 2 files to choose from",
        remedy={"sheet": "new.csv"},
    ),
)  # fmt: skip
"""Every file, in the order of the groups above."""


# What is done with a file on every surface.


class RefusedError(Exception):
    """A surface has refused a file, with this message."""


def written(case: Everyday, folder: Path) -> Path:
    """Write the file of a case, once for all surfaces."""
    path = folder / case.name
    if not path.exists():
        case.make(path)
    return path


def follow(
    case: Everyday, path: Path, ask: Callable[[Path, Mapping[str, Any]], Any], surface: Surface
) -> Any:
    """Ask about a file; if it must be refused, do as the message says and ask again."""
    if not case.refusal:
        return ask(path, case.asked)
    with pytest.raises(RefusedError) as refused:
        ask(path, case.asked)
    message = str(refused.value)
    assert re.search(case.refusal, message), message
    if case.mended is not None:
        path = path.with_name(f"mended {case.name}")
        case.mended(path)
    told = {name: read_remedy(message, surface, name, value) for name, value in case.remedy.items()}
    return ask(path, {**case.asked, **told, **case.instead})


def read_remedy(message: str, surface: Surface, name: str, value: str | tuple[str, ...]) -> Any:
    """Take an option from a message as a person would copy it."""
    as_told = surface.write_reference(Reference(name, value=value))
    assert as_told in message, message
    if surface is PYTHON:
        return ast.literal_eval(as_told.partition("=")[2])
    return shlex.split(as_told)[1] if surface is not REST else as_told.partition("=")[2]


def check_result(case: Everyday, rows: list[dict[str, Any]]) -> None:
    item = {**case.asked, **case.remedy, **case.instead}["item"]
    found = {row[item]: (row["n_ratings"], row["average"]) for row in rows if row["n_ratings"]}
    assert found.keys() == case.expected.keys()
    for name, (ratings, average) in case.expected.items():
        assert found[name] == (ratings, pytest.approx(average, abs=1e-5))
