"""The page in a real browser: learning participation from a table, and q as in a study."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import unheard as uh
from tests.learning import simulate_rates, simulate_waves
from tests.web.browser import Visit, overflow
from tests.web.test_page_table import choose
from unheard.model.studies import NAMED_Q

pytestmark = pytest.mark.xdist_group("browser")

SURVEY = Path(__file__).parents[2] / "docs" / "survey.csv"


def write_csv(*rows: Iterable[object]) -> bytes:
    lines = io.StringIO()
    csv.writer(lines).writerows(rows)
    return lines.getvalue().encode()


def open_learning(page: Page) -> None:
    """Open the question, once there is one."""
    page.get_by_text("Which q? Learn it from this table").click()


def chart_says(page: Page, words: str) -> None:
    expect(page.locator("#learned .chart [role=img]")).to_have_attribute(
        "aria-label", re.compile(re.escape(words))
    )


def test_reminders_show_who_responds_and_the_panel_assumes_it(visit: Visit) -> None:
    with SURVEY.open() as file:
        rows = list(csv.DictReader(file))
    cells = np.array([[int(row[f"n{r}"]) for r in range(1, 6)] for row in rows])
    enrolled = [int(row["enrolled"]) for row in rows if row["request"] == "1"]
    wanted = uh.calibrate_from_waves(cells.reshape(12, 3, 5), n=enrolled)
    page = visit.open("#table")
    choose(page, "survey.csv", SURVEY.read_bytes())
    open_learning(page)
    expect(page.get_by_label("Number of the request")).to_have_value("request")
    page.get_by_role("button", name="Learn from this table").click()
    for sentence in wanted.sentences:
        expect(page.locator("#learned")).to_contain_text(sentence)
    chart_says(page, wanted.words)
    expect(page.locator("#learned .notes")).to_be_hidden()
    page.locator("#learn-use").click()
    assumed = float(page.locator("#q").input_value())
    assert 0 <= wanted.q_lower - assumed < 0.001
    expect(page.get_by_label("Low ratings", exact=False)).to_be_checked()
    expect(page.locator("#assumption-text")).to_contain_text(f"at least {assumed} times as often")
    # What was learned from one column does not hold for another.
    page.get_by_label("Number of the request").select_option("")
    expect(page.locator("#learned")).to_be_empty()


def test_response_rates_suggest_with_a_warning_or_are_refused(visit: Visit) -> None:
    visit.expect_status(422)
    seen, people, _ = simulate_rates(np.random.default_rng(3), spread=0.5)
    wanted = uh.suggest_participation(seen, people)
    assert wanted.warnings
    table = [
        [f"c{i}", int(n), *map(int, row)]
        for i, (n, row) in enumerate(zip(people, seen, strict=True))
    ]
    head = ["course", "n", "n1", "n2", "n3", "n4", "n5"]
    page = visit.open("#table")
    choose(page, "courses.csv", write_csv(head, *table))
    open_learning(page)
    page.get_by_role("button", name="Learn from this table").click()
    expect(page.locator("#learned")).to_contain_text("A suggestion, not a measurement.")
    expect(page.locator("#learned .notes")).to_contain_text(wanted.warnings[0])
    chart_says(page, "A suggestion, not a measurement.")
    expect(page.locator("#learn-use")).to_be_visible()
    choose(page, "few.csv", write_csv(head, *table[:12]))
    open_learning(page)
    page.get_by_role("button", name="Learn from this table").click()
    refusal = "12 items with at least two ratings say too little about participation: 30 are"
    expect(page.locator("#learn-problem")).to_contain_text(refusal)
    expect(page.locator("#learned")).to_be_empty()


def test_waves_that_contradict_the_model_are_not_to_be_assumed(visit: Visit) -> None:
    change = np.linspace(-1, 1, 5)
    counts, people = simulate_waves(np.random.default_rng(5), 1, 4000, change=change)
    assert uh.calibrate_from_waves(counts, n=people).contradicted
    rows = [["fair", k, 4000, *map(int, row)] for k, row in enumerate(counts[0], 1)]
    page = visit.open("#table")
    head = ["event", "wave", "asked", "n1", "n2", "n3", "n4", "n5"]
    choose(page, "fair.csv", write_csv(head, *rows))
    open_learning(page)
    page.get_by_role("button", name="Learn from this table").click()
    expect(page.locator("#learned .notes")).to_contain_text("do not rely on this estimate")
    expect(page.locator("#learn-use")).to_have_count(0)


def test_a_table_without_reminders_and_n_says_what_to_choose(visit: Visit) -> None:
    page = visit.open("#table")
    choose(page, "few.csv", b"hotel,stars\nOak,4\nOak,4\nAsh,3\nAsh,3\nAsh,4\n")
    open_learning(page)
    page.get_by_role("button", name="Learn from this table").click()
    expect(page.locator("#learn-problem")).to_contain_text("Choose the column for “Number of the")


def test_q_is_taken_from_a_study_with_its_direction(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = visit.open()
    page.get_by_text("Presets and direction").click()
    study = page.get_by_label("Or as in a study")
    study.select_option("usf-online")
    expect(page.locator("#q")).to_have_value(str(NAMED_Q["usf-online"]))
    expect(page.get_by_label("High ratings", exact=False)).to_be_checked()
    expect(page.locator("#study-about")).to_contain_text("course evaluations online")
    expect(page.locator("#assumption-text")).to_contain_text("The higher their rating")
    assert overflow(page) <= 0
    page.locator("#q").fill("0.3")
    expect(study).to_have_value("")
    expect(page.locator("#study-about")).to_be_empty()
