"""The rules for notes: one function over columns, which NumPy and SQL run alike."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

import unheard as uh
from tests.tables.chains import nest
from unheard.formulas.evaluate import Items, evaluate
from unheard.formulas.note_rules import note_estimate, note_items
from unheard.formulas.operations import NUMPY, PLAIN, Operations
from unheard.model.notes import NOTE_TEXTS, Note
from unheard.model.question import build_setting
from unheard.tables.sql.dialects import render
from unheard.tables.sql.expressions import Sheet

ROWS = np.array(
    [[0, 0, 0], [0, 0, 1], [3, 3, 3], [3, 3, 4], [50, 1, 2], [0, 0, 90], [5, 40, 5], [900, 0, 9]],
    float,
)
PEOPLE = np.array([0, 1, 9, 400, 60, 91, 5000, 1000], float)

STATED: list[tuple[str, dict[str, Any]]] = [
    ("spectral", {"q": 0.3}),
    ("midpoint", {"floor": 0.3}),
    ("average", {"floor": 0.9}),
    ("reweight", {"g": [0.2, 0.3, 0.9]}),
    ("midpoint", {"participation": [(0.1, 0.4), (0.2, 0.5), (0.4, 0.8)]}),
]


def find_notes(method: str, question: uh.Question, items: Items, ops: Operations) -> dict[str, Any]:
    setting = build_setting(question.counts.scale, question.assumption, 0.95, "mean")
    answer = evaluate(items, setting, [method], ops).of(method)
    return note_items(items, setting, ops) | note_estimate(items, setting, method, answer, ops)


@pytest.mark.parametrize(("method", "stated"), STATED)
def test_arrays_numbers_and_sql_agree(method: str, stated: dict[str, Any]) -> None:
    question = uh.build_question(ROWS, n=PEOPLE, **stated)
    q = None if question.assumption.q is None else float(question.assumption.q)
    with np.errstate(divide="ignore", invalid="ignore"):
        arrays = find_notes(method, question, Items(list(ROWS.T), q, PEOPLE), NUMPY)
    for i, row in enumerate(ROWS):
        numbers = find_notes(method, question, Items(row.tolist(), q, float(PEOPLE[i])), PLAIN)
        assert numbers == {name: notes[i] for name, notes in arrays.items()}
    sheet = Sheet()
    cells = find_notes(
        method,
        question,
        Items([sheet.column(f"c{r}") for r in range(3)], q, sheet.column("n")),
        sheet,
    )
    table = pa.table(
        {f"c{r}": ROWS[:, r] for r in range(3)} | {"n": PEOPLE, "row": range(len(ROWS))}
    )
    query = nest(cells, exp.to_table("table"), ["row"]).subquery("last")
    with duckdb.connect() as connection:
        connection.register("table", table)
        sql = render(exp.select("*").from_(query).order_by("row"), "duckdb")
        found = connection.sql(sql).to_arrow_table()
    assert found.column_names == ["row", *arrays]
    for name, notes in arrays.items():
        assert found[name].to_pylist() == notes.tolist(), name
    assert set(np.unique(list(arrays.values()))) == {0.0, 1.0}


@pytest.mark.parametrize(("method", "stated"), STATED)
def test_estimates_carry_the_notes_of_the_rules(method: str, stated: dict[str, Any]) -> None:
    question = uh.build_question(ROWS, n=PEOPLE, **stated)
    q = None if question.assumption.q is None else float(question.assumption.q)
    with np.errstate(divide="ignore", invalid="ignore"):
        notes = find_notes(method, question, Items(list(ROWS.T), q, PEOPLE), NUMPY)
    for i, names in enumerate(question.answer_rows([method])[0].notes):
        assert set(names) == {name for name, column in notes.items() if column[i]}


def test_every_note_of_an_estimate_is_explained() -> None:
    assert [*NOTE_TEXTS][: len(Note)] == [str(note.name).lower() for note in Note]
