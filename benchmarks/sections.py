"""What a known n adds on real data: course sections with their enrolment; see docs/mathematics.md.

USF's public evaluations, 2005 to 2024: counts of five ratings for each section, and the number of
people enrolled. Bounds with n are compared with those without, by response rate and number of
ratings.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

import unheard as uh
from benchmarks.timing import Cost, replace_table
from unheard.formulas.operations import Floats

SECTIONS = Path(__file__).parents[2] / "shared" / "data" / "usf" / "sections.csv.gz"
MISSING = "the USF sections are not beside this checkout (../shared/data)"
PAGE = Path(__file__).parents[1] / "docs" / "mathematics.md"
Q = 0.3

RESPONSE = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
RATINGS = (1, 3, 6, 11, 21, 51)

_COUNTS = ",".join(f"overall_{r}" for r in range(1, 6))
_KNOWN = f"enrolled >= {_COUNTS.replace(',', ' + ')}"  # 640 rows have more ratings than people


@dataclass(frozen=True)
class Sections:
    """Course sections.

    Attributes
    ----------
    cells
        How often each of the ratings 1 to 5 was given, one row per section.
    enrolled
        How many people there are.
    """

    cells: NDArray[np.int64]
    enrolled: NDArray[np.int64]

    @classmethod
    def read(cls) -> Sections:
        query = f"select enrolled, {_COUNTS} from '{SECTIONS}' where {_KNOWN}"
        enrolled, *cells = duckdb.execute(query).fetchnumpy().values()
        return cls(np.stack(cells, axis=1).astype(np.int64), np.asarray(enrolled, np.int64))

    @property
    def seen(self) -> NDArray[np.int64]:
        return np.asarray(self.cells.sum(axis=1))

    @property
    def response(self) -> Floats:
        return np.asarray(self.seen / np.maximum(self.enrolled, 1))

    def near_census(self, fewest: int = 1) -> NDArray[np.int64]:
        """Return counts of sections in which at least 90% responded."""
        return self.cells[(self.response >= 0.9) & (self.seen >= fewest)]


@dataclass(frozen=True)
class Worth:
    """Widths of the bounds with and without n."""

    sections: Sections
    free: Floats
    known: Floats

    @classmethod
    def of(cls, sections: Sections) -> Worth:
        free = uh.estimate(sections.cells, Q, level=None)
        known = uh.estimate(sections.cells, Q, n=sections.enrolled, level=None)
        return cls(sections, free.upper - free.lower, known.upper - known.lower)

    @property
    def settled_by_n(self) -> NDArray[np.bool_]:
        """Return the sections whose bounds have zero width only with n."""
        return (self.known <= 1e-12) & (self.free > 1e-12)


def run() -> None:
    if not SECTIONS.exists():
        print(f"No table: {MISSING}.")
        return
    sections = Sections.read()
    worth = Worth.of(sections)
    table = _table(worth)
    print(table)
    replace_table(PAGE, "sections", table)
    low, settled = sections.response < Q, worth.settled_by_n
    print(f"sections with a response rate below {Q}: {low.sum():,}")
    print(f"of these, bounds differ from those without n: {(worth.known < worth.free)[low].sum()}")
    print(f"bounds without width because of n: {settled.sum():,}")
    print(f"lowest response rate of these: {sections.response[settled].min():.3f}")
    _time(len(sections.enrolled))


def _table(worth: Worth) -> str:
    """Return a table of mean widths, by response rate (rows) and number of ratings (columns)."""
    seen, response = worth.sections.seen, worth.sections.response
    across = list(zip(RATINGS, (*(most - 1 for most in RATINGS[1:]), None), strict=True))
    names = [f"{least} to {most}" if most else f"{least} or more" for least, most in across]
    lines = ["| response | sections | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for low, high in zip(RESPONSE, (*RESPONSE[1:], np.inf), strict=True):
        rows = (response >= low) & (response < high) & (seen > 0)
        shown = f"{low:.0%} to {high:.0%}" if high <= 1 else "100%"
        cells = [
            _cell(worth, rows & (seen >= least) & (seen <= (most or np.inf)))
            for least, most in across
        ]
        lines.append(f"| {shown} | {rows.sum():,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(worth: Worth, rows: NDArray[np.bool_]) -> str:
    if not rows.any():
        return "–"
    return f"{worth.known[rows].mean():.2f} ({worth.free[rows].mean():.2f})"


def _time(rows: int) -> None:
    """Time the command on all sections, with n, ranks, notes and confidence limits."""
    with TemporaryDirectory() as folder:
        table, rated = Path(folder, "sections.csv"), Path(folder, "rated.parquet")
        numbered = f"select row_number() over () as section, * from '{SECTIONS}' where {_KNOWN}"
        duckdb.execute(f"copy ({numbered}) to '{table}'")
        command = [sys.executable, "-m", "unheard", "rate", str(table), "--item", "section"]
        command += ["--counts", _COUNTS, "--n-column", "enrolled", "--q", str(Q), "-o", str(rated)]
        cost = Cost.of(lambda: subprocess.run(command, check=True, capture_output=True))
        columns = ", ".join(pq.read_schema(rated).names)
    print(f"unheard rate of {rows:,} sections: {cost} (goal: below 5 s); {columns}")
