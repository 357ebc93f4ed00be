"""Writes a sheet as Excel's binary format [MS-XLSB], which no library writes."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def write_xlsb(path: Path, rows: Sequence[Sequence[str | float]]) -> None:
    last = len(rows) - 1, max(map(len, rows)) - 1
    sheet = _record(0x0181) + _record(0x0194, struct.pack("<4I", 0, last[0], 0, last[1]))
    sheet += _record(0x0191)
    for at, row in enumerate(rows):
        sheet += _record(0x00, struct.pack("<I", at) + bytes(13))
        for column, cell in enumerate(row):
            place = struct.pack("<II", column, 0)
            if isinstance(cell, str):
                sheet += _record(0x06, place + _text(cell))
            else:
                sheet += _record(0x05, place + struct.pack("<d", cell))
    sheet += _record(0x0192) + _record(0x0182)
    listed = struct.pack("<II", 0, 1) + _text("rId1") + _text("Data")
    book = _record(0x0183) + _record(0x018F) + _record(0x019C, listed)
    book += _record(0x0190) + _record(0x0184)
    link = '<Relationship Id="rId1" Type="sheet" Target="worksheets/sheet1.bin"/>'
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        file.writestr("xl/workbook.bin", book)
        file.writestr("xl/worksheets/sheet1.bin", sheet)
        relations = f'<Relationships xmlns="{_RELATIONS}">{link}</Relationships>'
        file.writestr("xl/_rels/workbook.bin.rels", relations)


def _record(kind: int, content: bytes = b"") -> bytes:
    """Write a record: its kind, its length in groups of seven bits, its content."""
    head, length = bytes([kind & 0xFF, kind >> 8] if kind > 0x7F else [kind]), len(content)
    while length > 0x7F:
        head += bytes([0x80 | length & 0x7F])
        length >>= 7
    return head + bytes([length]) + content


def _text(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")
