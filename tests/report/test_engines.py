"""A report says the same whichever engine holds the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from tests.tables.engines import SQL_BENCHES, bench
from unheard.report.report_data import gather_report_data
from unheard.report.report_json import build_document
from unheard.tables.pipeline import prepare, read_request
from unheard.tables.request import add_order
from unheard.tables.sources.open import Where

STAYS = pyarrow.csv.read_csv(Path(__file__).parents[2] / "docs" / "stays.csv")
ASKED: dict[str, dict[str, Any]] = {
    "plain": {"item": "hotel", "rating": "stars", "q": 0.3},
    "windows": {"item": "hotel", "rating": "stars", "q": 0.3, "time": "day", "window": "quarter"},
}


# A report asks many small questions, and Spark takes a second for each.
NAMES = [*(name for name in SQL_BENCHES if name != "spark"), "duckdb-relation", "pandas"]


def document(source: Any, where: Where, asked: dict[str, Any]) -> dict[str, Any]:
    above = None if "window" in asked else 4.0
    job = prepare(source, add_order(read_request(**asked), None, above, None), where)
    try:
        data = gather_report_data(job, source="stays", command=None, title=None)
    finally:
        job.close()
    found: dict[str, Any] = json.loads(json.dumps(build_document(data)))
    return found


def rounded(value: Any) -> Any:
    """The same without the last digits, in which engines differ."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 9) if isinstance(value, float) else value


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", NAMES)
def test_the_same_everywhere(name: str, asked: str) -> None:
    source, further = bench(name).load(STAYS)
    found = document(source, Where(**further), ASKED[asked])
    assert rounded(found) == rounded(document(STAYS, Where(), ASKED[asked]))
