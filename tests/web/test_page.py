"""The page in a real browser: one rating, two items, and what all views share."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

import unheard as uh
from tests.web.browser import Visit, download, overflow, paste, visiting
from tests.web.server import Served, serving
from unheard.model.example import HOTELS
from unheard.options.choices import Quiet
from unheard.options.questions import labels

pytestmark = pytest.mark.xdist_group("browser")

COUNTS = [120, 30, 45, 200, 605]
VIEWS = ("one", "compare", "table")
TOKEN = "open-sesame-open-sesame"
SERIOUS = ("serious", "critical")


def figure(page: Page, name: str) -> str:
    """The number below its name."""
    entry = page.locator("#one-figures > div").filter(has=page.locator(f'dt:text-is("{name}")'))
    return str(entry.locator("dd").evaluate("dd => dd.firstChild.textContent"))


def headline(page: Page, *numbers: str) -> None:
    for number in numbers:
        expect(page.locator("#one-headline")).to_contain_text(number)


def fill_counts(page: Page, counts: list[int], box: str = "#one-counts") -> None:
    for place, count in enumerate(counts):
        page.locator(f"{box} input").nth(place).fill(str(count))


def typed(page: Page, box: str = "#one-counts") -> list[str]:
    return [field.input_value() for field in page.locator(f"{box} input").all()]


def is_drawn(page: Page, box: str) -> None:
    expect(page.locator(f"{box} svg")).to_be_visible()


def show_example_table(page: Page) -> None:
    page.get_by_role("link", name="A table").click()
    page.get_by_role("button", name="Try the example data").click()
    expect(page.locator("#table-headline")).to_contain_text("settled")
    is_drawn(page, "#table-chart")


# One rating.


def test_the_page_explains_itself_and_answers_an_example(visit: Visit, site: Served) -> None:
    page = visit.open()
    expect(page.get_by_role("heading", level=1)).to_contain_text("if everyone had responded")
    expect(page.get_by_text("Example data; enter your own.")).to_be_visible()
    expect(page.locator("#one-headline")).to_have_text(
        "The mean of everyone is between 3.35 and 4.64 if your assumption holds, "
        "or between 3.21 and 4.69 with sampling error. "
        "The estimate is 4.00; respondents average 4.14."
    )
    found = uh.estimate(COUNTS, q=0.3)
    assert figure(page, "Average") == "4.14"
    assert figure(page, "Estimate") == f"{found.estimate:.2f}"
    assert figure(page, "Bounds") == f"{found.lower:.2f} to {found.upper:.2f}"
    ends = f"{found.ci_lower:.2f} to {found.ci_upper:.2f}"
    assert figure(page, "95% confidence interval") == ends
    is_drawn(page, "#one-chart")
    is_drawn(page, "#sweep-chart")
    asked = {"counts": COUNTS, "q": 0.3}
    words = site.question("/estimate/chart", asked).document["description"]
    expect(page.locator("#one-chart").get_by_role("img")).to_have_attribute("aria-label", words)
    page.get_by_role("link", name="How it works").click()
    expect(page.get_by_text("It ignores non-respondents.")).to_be_in_viewport()
    expect(page.locator("#how")).to_be_focused()


def test_every_change_of_a_count_is_answered(visit: Visit) -> None:
    page = visit.open()
    headline(page, "4.14")
    fill_counts(page, [5, 0, 0, 0, 5])
    found = uh.estimate([5, 0, 0, 0, 5], q=0.3)
    headline(page, f"{found.lower:.2f}", f"{found.upper:.2f}", "average 3.00")
    expect(page.get_by_text("Example data; enter your own.")).to_have_count(0)


def test_the_last_of_many_quick_changes_is_the_one_shown(visit: Visit) -> None:
    page = visit.open()
    headline(page, "4.14")
    page.locator("#one-counts input").nth(0).press("End")
    page.keyboard.type("345")
    found = uh.estimate([120345, *COUNTS[1:]], q=0.3)
    headline(page, f"{found.lower:.2f} and {found.upper:.2f}")
    assert figure(page, "Estimate") == f"{found.estimate:.2f}"


def test_pasted_numbers_fill_all_fields(visit: Visit) -> None:
    page = visit.open()
    for first, form in enumerate(
        ["{} 20 30 40 1000", "{},20,30,40,1000", "{}\n20\n30\n40\n1,000\n"]
    ):
        page.locator("#one-counts input").nth(3).focus()
        paste(page, form.format(first))
        headline(page, f"average {(first + 40 + 90 + 160 + 5000) / (first + 1090):.2f}")
        expect(page.locator("#one-counts input").nth(0)).to_have_value(str(first))


def test_too_many_pasted_numbers_are_refused_in_place(visit: Visit) -> None:
    page = visit.open()
    headline(page, "4.14")
    page.locator("#one-counts input").nth(0).focus()
    paste(page, "1 2 3 4 5 6 7")
    expect(page.locator("#one-problem")).to_contain_text("You pasted 7 numbers")
    expect(page.locator("#one-answer")).to_have_class("answer stale")
    assert typed(page) == [str(count) for count in COUNTS]
    page.locator("#one-counts input").nth(0).fill("7")
    expect(page.locator("#one-problem")).to_be_empty()
    expect(page.locator("#one-answer")).to_have_class("answer")


def test_what_the_server_refuses_is_said_and_the_last_answer_dimmed(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open()
    headline(page, "4.14")
    page.locator("#one-counts input").nth(1).fill("-3")
    alert = page.locator("#one-problem")
    expect(alert).to_contain_text("“Count 2”")
    expect(alert).to_have_role("alert")
    expect(page.get_by_label("rated 2", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#one-answer")).to_have_class("answer stale")
    expect(page.locator("#one-csv")).to_be_disabled()
    headline(page, "4.14")
    page.locator("#one-counts input").nth(1).fill("3o")
    expect(alert).to_contain_text("“3o” is not a number")
    page.locator("#one-counts input").nth(1).fill("30")
    expect(alert).to_be_empty()
    expect(page.locator("[aria-invalid]")).to_have_count(0)
    expect(page.locator("#one-csv")).to_be_enabled()


PARTS = [
    {"argument": "nulls", "index": [], "value": None}, " cannot be used with ",
    {"argument": "n", "index": [], "value": None}, ". Use ",
    {"argument": "nulls", "index": [], "value": "drop"}, ", or change ",
    {"argument": "counts", "index": [2], "value": None}, " or ",
    {"argument": "unknown", "index": [], "value": None}, ".",
]  # fmt: skip


def test_errors_name_the_controls_of_the_page(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open()
    headline(page, "4.14")
    document = {"status": 422, "detail": "x", "argument": "counts", "index": [2], "parts": PARTS}
    kind = "application/problem+json"
    page.route(
        "**/api/v1/estimate",
        lambda route: route.fulfill(status=422, content_type=kind, body=json.dumps(document)),
    )
    page.locator("#q").fill("0.4")
    expect(page.locator("#one-problem")).to_have_text(
        "“Empty ratings” cannot be used with “Number of people”. Use “Empty ratings: leave them "
        "out”, or change “Count 3” or “unknown”."
    )
    expect(page.get_by_label("rated 3", exact=True)).to_have_attribute("aria-invalid", "true")
    page.unroute_all(behavior="ignoreErrors")


def test_controls_have_the_labels_of_the_options(visit: Visit) -> None:
    page = visit.open()
    declared = labels()
    for name in ("q", "quiet", "floor", "n", "scale", "counts", "above"):
        named = page.locator("label, legend").filter(has_text=declared[name].label)
        expect(named.first).to_be_visible()
    choices = list(declared["quiet"].choices.values())
    assert [text.strip() for text in page.locator("#quiet label").all_inner_texts()] == choices
    assert "$" not in page.content()


def test_the_slider_works_by_keyboard(visit: Visit) -> None:
    page = visit.open()
    headline(page, "3.35")
    slider = page.get_by_role("slider", name="Participation ratio q")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#q")).to_have_value("0.28")
    found = uh.estimate(COUNTS, q=0.28)
    headline(page, f"{found.lower:.2f} and {found.upper:.2f}")
    expect(page.locator("#assumption-text")).to_contain_text("at least 0.28 times")
    page.keyboard.press("Home")
    expect(page.locator("#q")).to_have_value("1")
    headline(page, "The mean of everyone is 4.14 if your assumption holds")
    page.keyboard.press("End")
    expect(page.locator("#q")).to_have_value("0.01")
    expect(slider).to_have_attribute("aria-valuetext", "q = 0.01")


def test_the_slider_moves_in_the_direction_of_the_chart(visit: Visit) -> None:
    page = visit.open()
    places = []
    for q in ("0.3", "0.1"):
        page.locator("#q").fill(q)
        mark = page.locator("#sweep-chart .drawing:not(.unseen) text").get_by_text(f"q = {q}")
        box = mark.bounding_box()
        assert box is not None
        places.append((int(page.locator("#q-slider").input_value()), box["x"]))
    (left, near), (right, far) = sorted(places)
    assert left < right
    assert near < far


def test_q_is_typed_or_taken_from_a_preset(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open()
    page.get_by_role("button", name="Survey 0.5").click()
    found = uh.estimate(COUNTS, q=0.5)
    headline(page, f"{found.lower:.2f} and {found.upper:.2f}")
    expect(page.get_by_role("button", name="Survey 0.5")).to_have_attribute("aria-pressed", "true")
    page.locator("#q").fill("2")
    expect(page.locator("#one-problem")).to_contain_text("“Participation ratio q” must be")
    page.locator("#q").fill("0.5")
    page.locator("#one-n").fill("3")
    expect(page.locator("#one-problem")).to_contain_text("“Number of people”")
    page.locator("#one-n").fill("")
    page.locator("#q").fill("0.7")
    found = uh.estimate(COUNTS, q=0.7)
    headline(page, f"{found.lower:.2f} and {found.upper:.2f}")


def test_who_may_respond_less_often(visit: Visit) -> None:
    page = visit.open()
    choices = labels()["quiet"].choices
    for quiet in get_args(Quiet):
        label = choices[quiet]
        page.get_by_label(label).check()
        found = uh.estimate(COUNTS, q=0.3, quiet=quiet)
        headline(page, f"{found.lower:.2f} and {found.upper:.2f}")
        words = uh.build_question(COUNTS, 0.3, quiet=quiet).words
        expect(page.locator("#assumption-text")).to_have_text(words)


def test_the_page_says_what_n_adds(visit: Visit) -> None:
    page = visit.open()
    for n, words in (("1,200", "without n they are 3.35 to 4.64"), ("90000", "too low")):
        page.get_by_label("Number of people").first.fill(n)
        found = uh.estimate(COUNTS, q=0.3, n=int(n.replace(",", "")))
        headline(page, f"{found.lower:.2f} and {found.upper:.2f}")
        expect(page.locator("#one-notes")).to_contain_text(words)


def test_a_floor_can_be_refuted(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open()
    page.get_by_label("Least probability of responding").fill("0.3")
    expect(page.locator("#one-problem")).to_contain_text("requires “Number of people”")
    page.get_by_label("Number of people").first.fill("2,400")
    found = uh.estimate(COUNTS, floor=0.3, n=2400)
    headline(page, f"{found.lower:.2f} and {found.upper:.2f}")
    page.get_by_label("Least probability of responding").fill("0.6")
    expect(page.locator("#one-headline")).to_contain_text("contradicts your assumption")
    expect(page.locator("#one-notes")).to_contain_text(uh.NOTE_TEXTS["refuted"][1:])
    expect(page.locator("#one-notes")).to_contain_text("n is not used")
    page.get_by_label("Least probability of responding").fill("")
    found = uh.estimate(COUNTS, q=0.3, n=2400)
    headline(page, f"{found.lower:.2f} and {found.upper:.2f}")


def test_numbers_are_rounded_as_python_rounds_them(visit: Visit) -> None:
    page = visit.open()
    values = [4.125, 4.375, -0.125, -0.375, 4.135, 2.675, 0.5, 3.0, 4.994999, 4.995, 1e-9]
    written = page.evaluate(
        """async (values) => {
            const { writeRating } = await import("/static/numbers.js");
            return values.map((value) => writeRating(value, 4));
        }""",
        values,
    )
    assert written == [f"{value:.2f}" for value in values]


def test_a_claim_and_what_overturns_it(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open()
    page.get_by_label("Is the mean above").fill("3.5")
    broken = uh.find_breakdown(COUNTS, above=3.5)
    expect(page.locator("#sweep-text")).to_contain_text(f"as long as q is above {broken:.3g}")
    page.get_by_label("Is the mean above").fill("nine")
    expect(page.locator("#sweep-problem")).to_contain_text("“nine” is not a number")
    expect(page.locator("#one-problem")).to_be_empty()
    page.get_by_label("Is the mean above").fill("9")
    expect(page.locator("#sweep-problem")).to_contain_text("above")


def test_scales(visit: Visit) -> None:
    page = visit.open()
    page.locator("#one-scale").select_option("½ to 5, half stars")
    expect(page.locator("#one-counts input")).to_have_count(10)
    assert typed(page) == ["", "120", "", "30", "", "45", "", "200", "", "605"]
    headline(page, "3.35 and 4.64")
    page.locator("#one-scale").select_option("another …")
    page.locator("#one-own-scale").fill("0:1:0")
    expect(page.locator("#one-problem")).to_contain_text("is not a scale")
    page.locator("#one-own-scale").fill("0,0.01")
    fill_counts(page, [3, 1])
    found = uh.estimate([3, 1], q=0.3, scale=[0, 0.01])
    headline(page, f"{found.lower:.4f} and {found.upper:.4f}")
    page.locator("#one-own-scale").fill("1:7")
    expect(page.locator("#one-counts input")).to_have_count(7)
    assert typed(page)[:5] == [str(count) for count in COUNTS]


def test_downloads_of_one_rating(visit: Visit, tmp_path: Path) -> None:
    page = visit.open()
    headline(page, "4.14")
    with download(page, "#one-csv", tmp_path).open(newline="") as file:
        (row,) = csv.DictReader(file)
    found = uh.estimate(COUNTS, q=0.3)
    for name in ("estimate", "lower", "upper", "ci_lower", "ci_upper"):
        assert float(row[name]) == getattr(found, name)
    assert (row["n_ratings"], row["n"], row["q"], row["count_5"]) == ("1000", "", "0.3", "605")
    assert download(page, "#one-png", tmp_path).read_bytes().startswith(b"\x89PNG")
    report = download(page, "#one-report", tmp_path).read_text()
    assert "This rating" in report
    assert "4.00" in report
    page.locator("#one-scale").select_option("½ to 5, half stars")
    page.locator("#one-n").fill("2400")
    found = uh.estimate(COUNTS, q=0.3, n=2400)
    headline(page, f"{found.lower:.2f} and {found.upper:.2f}")
    report = download(page, "#one-report", tmp_path).read_text()
    assert f"{found.lower:.2f} to {found.upper:.2f}" in report


# Two items.


def test_the_two_hotels_are_compared(visit: Visit, tmp_path: Path) -> None:
    page = visit.open()
    page.get_by_role("link", name="Compare two").click()
    expect(page.get_by_label("Name").first).to_have_value("Hotel A")
    expect(page.locator("#compare-headline")).to_contain_text("Neither item is ahead: at q = 1")
    found = uh.compare(HOTELS["Hotel A"], HOTELS["Hotel B"], q=0.3)
    rows = page.locator("#compare-items tbody tr")
    expect(rows.nth(0)).to_contain_text(f"{found.a.lower:.2f} to {found.a.upper:.2f}")
    expect(rows.nth(1)).to_contain_text(f"{found.b.estimate:.2f}")
    differences = page.locator("#compare-differences tbody tr")
    expect(differences.nth(1)).to_contain_text(
        f"{found.shared.lower:.2f} to {found.shared.upper:.2f}"
    )
    is_drawn(page, "#compare-chart")
    page.get_by_label("first, rated 1", exact=True).focus()
    paste(page, "0 0 10 20 500")
    page.get_by_label("Name").first.fill("=HYPERLINK(1)")
    expect(page.locator("#compare-headline")).to_have_text(
        "=HYPERLINK(1) rates higher than Hotel B if your assumption holds, "
        "even with sampling error."
    )
    expect(page.locator("#compare-text")).to_contain_text("as long as q is above")
    with download(page, "#compare-csv", tmp_path).open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["what"] for row in table][:2] == ["'=HYPERLINK(1)", "Hotel B"]
    better = uh.compare([0, 0, 10, 20, 500], HOTELS["Hotel B"], q=0.3)
    assert float(table[2]["lower"]) == better.separate.lower
    assert download(page, "#compare-png", tmp_path).read_bytes().startswith(b"\x89PNG")


def test_people_are_known_for_both_items_or_neither(visit: Visit) -> None:
    page = visit.open("#compare")
    expect(page.locator("#compare-headline")).to_contain_text("Neither item is ahead")
    page.locator("#compare-n-a").fill("400")
    expect(page.locator("#compare-problem")).to_contain_text("of both items, or of neither")
    page.locator("#compare-n-b").fill("500")
    expect(page.locator("#compare-problem")).to_be_empty()
    found = uh.compare(HOTELS["Hotel A"], HOTELS["Hotel B"], q=0.3, n=(400, 500))
    rows = page.locator("#compare-items tbody tr")
    expect(rows.nth(0)).to_contain_text(f"{found.a.lower:.2f} to {found.a.upper:.2f}")


# What all views share.


def test_views_by_keyboard_and_back(visit: Visit) -> None:
    page = visit.open()
    # Listening from the start: a key can overtake the request to report the next chooser.
    page.on("filechooser", lambda chooser: None)
    page.get_by_role("link", name="Compare two").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Which of two rates higher?")).to_be_visible()
    expect(page.get_by_role("link", name="Compare two")).to_have_attribute("aria-current", "page")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Try the example data")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("#table-file")).to_be_focused()
    with page.expect_file_chooser():
        page.keyboard.press("Space")
    page.go_back()
    expect(page.locator("#view-compare")).to_be_visible()
    page.go_back()
    headline(page, "4.14")


def test_the_address_keeps_what_was_typed(visit: Visit) -> None:
    page = visit.open()
    fill_counts(page, [1, 2, 3, 4, 50])
    page.locator("#q").fill("0.2")
    page.get_by_label("people with low ratings").check()
    page.get_by_label("Is the mean above").fill("4")
    page.wait_for_url("**/#one?*quiet=low*above=4*")
    kept = page.url
    page.goto("about:blank")
    page.goto(kept)
    assert typed(page) == ["1", "2", "3", "4", "50"]
    assert page.locator("#q").input_value() == "0.2"
    assert page.get_by_label("Is the mean above").input_value() == "4"
    found = uh.estimate([1, 2, 3, 4, 50], q=0.2, quiet="low")
    headline(page, f"{found.lower:.2f} and {found.upper:.2f}")
    expect(page.get_by_label("people with low ratings")).to_be_checked()
    assert visit.page.context.cookies() == []


def test_light_and_dark(visit: Visit) -> None:
    page = visit.open()
    paper = "getComputedStyle(document.body).backgroundColor"
    is_drawn(page, "#one-chart")
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(paper)
    expect(page.locator("#one-chart")).to_have_attribute("data-theme", "dark")
    page.get_by_label("Light").check()
    light = page.evaluate(paper)
    assert light != dark
    expect(page.locator("#one-chart")).to_have_attribute("data-theme", "light")
    page.reload()
    expect(page.get_by_label("Light")).to_be_checked()
    assert page.evaluate(paper) == light
    headline(page, "4.14")
    page.get_by_label("Auto").check()
    assert page.evaluate(paper) == dark


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_shows_all_of_it(visit: Visit, view: str) -> None:
    visit.page.set_viewport_size({"width": 360, "height": 740})
    page = visit.open(f"#{view}")
    if view == "table":
        show_example_table(page)
    else:
        is_drawn(page, f"#{view}-chart")
    assert overflow(page) <= 0


@pytest.mark.parametrize("view", VIEWS)
def test_the_answer_is_above_the_fold(visit: Visit, view: str) -> None:
    visit.page.set_viewport_size({"width": 1366, "height": 768})
    page = visit.open(f"#{view}")
    if view == "table":
        page.get_by_role("button", name="Try the example data").click()
    expect(page.locator(f"#{view}-headline")).not_to_be_empty()
    expect(page.locator(f"#{view}-headline")).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0


def test_the_answer_is_on_the_first_screen_of_a_phone(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = visit.open()
    headline(page, "4.14")
    expect(page.locator("#one-headline")).to_be_in_viewport(ratio=1)
    page.get_by_text("Presets and direction").click()
    expect(page.get_by_label("people with low ratings")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_stands_in_the_way_of_anybody(visit: Visit, view: str, scheme: str) -> None:
    visit.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page = visit.open(f"#{view}")
    if view == "table":
        show_example_table(page)
    else:
        is_drawn(page, f"#{view}-chart")
    if view == "one":
        page.locator("#one-n").fill("2400")
        page.locator("#q").fill("0.9")
        expect(page.locator("#one-notes")).to_be_visible()
    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in SERIOUS]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious] == []


def test_a_server_that_is_gone_and_comes_back(visit: Visit) -> None:
    visit.expected.append("ERR_INTERNET_DISCONNECTED")
    page = visit.open()
    is_drawn(page, "#sweep-chart")
    page.context.set_offline(True)
    page.locator("#one-counts input").nth(0).fill("0")
    expect(page.locator("#one-problem")).to_contain_text("The server does not respond")
    headline(page, "4.14")
    page.context.set_offline(False)
    page.locator("#one-counts input").nth(0).fill("1")
    headline(page, f"average {(1 + 60 + 135 + 800 + 3025) / 881:.2f}")
    expect(page.locator("#one-problem")).to_be_empty()


def test_print_leaves_the_controls_out(visit: Visit) -> None:
    page = visit.open()
    headline(page, "4.14")
    page.emulate_media(media="print")
    expect(page.locator("#one-headline")).to_be_visible()
    expect(page.locator("#assumption-text")).to_be_visible()
    for control in ("#q-slider", "#one-csv", "nav", "#theme"):
        expect(page.locator(control)).to_be_hidden()


@pytest.fixture(scope="module")
def closed() -> Iterator[Served]:
    """A server that asks for a token."""
    with serving(UNHEARD_TOKEN=TOKEN) as served:
        yield served


def test_a_token_is_asked_for(browser: BrowserContext, closed: Served) -> None:
    with visiting(browser, closed.address.partition("#")[0]) as visit:
        visit.expect_status(401)
        page = visit.open()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.get_by_label("Token", exact=True).fill("a wrong one")
        page.keyboard.press("Enter")
        expect(page.locator("#token-problem")).to_contain_text("did not accept")
        page.get_by_label("Token", exact=True).fill(TOKEN)
        page.keyboard.press("Enter")
        headline(page, "4.14")
        is_drawn(page, "#one-chart")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.reload()
        headline(page, "4.14")
        expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_token_in_the_address_is_taken_out_of_it(browser: BrowserContext, closed: Served) -> None:
    with visiting(browser, closed.address.partition("#")[0]) as visit:
        page = visit.open(f"#token={TOKEN}")
        headline(page, "4.14")
        assert TOKEN not in page.url
        kept = page.evaluate("JSON.stringify([{...localStorage}, document.cookie])")
        assert json.loads(kept) == [{}, ""]


def test_without_a_token_there_is_a_sentence(browser: BrowserContext, closed: Served) -> None:
    with visiting(browser, closed.address.partition("#")[0]) as visit:
        visit.expect_status(401)
        page = visit.open()
        page.get_by_role("button", name="Cancel").last.click()
        expect(page.locator("#one-problem")).to_contain_text("requires a token")


@pytest.fixture(scope="module")
def chartless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server, and workers, that cannot import the libraries for charts."""
    folder = tmp_path_factory.mktemp("chartless")
    missing = ["altair", "jinja2", "markupsafe", "vl_convert"]
    (folder / "sitecustomize.py").write_text(
        f"import sys; sys.modules.update(dict.fromkeys({missing}))"
    )
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    with serving(PYTHONPATH=path) as served:
        yield served


def test_without_the_libraries_for_charts_the_page_gives_numbers(
    browser: BrowserContext, chartless: Served, tmp_path: Path
) -> None:
    assert chartless.question("/estimate/chart", {"counts": COUNTS, "q": 0.3}).status == 501
    with visiting(browser, chartless.address) as visit:
        page = visit.open()
        headline(page, "4.14")
        expect(page.get_by_text("pip install 'unheard[web,charts]'")).to_have_count(1)
        assert download(page, "#one-csv", tmp_path).read_text().startswith("n_ratings")
        for view in VIEWS:
            page.locator(f'nav a[href="#{view}"]').click()
            if view == "table":
                page.get_by_role("button", name="Try the example data").click()
            expect(page.locator(f"#{view}-headline")).not_to_be_empty()
            expect(page.locator(f"#{view}-chart")).to_be_hidden()
            for button in page.locator(f"#{view}-png, #{view}-report").all():
                button.click()
                expect(page.locator(f"#{view}-problem")).to_contain_text("unheard[web,charts]")
