"""The page in a real browser: offline, by keyboard, on a telephone, on paper, in the dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.report.examples import NAMES, random_counts, table_of
from tests.web.browser import overflow, profile, visiting
from unheard.report import make_report

pytestmark = pytest.mark.xdist_group("browser")

ITEMS = 120
NOTED = {"nobody's": [0] * 5}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with real figures, notes, people and a claim."""
    target = tmp_path_factory.mktemp("page") / "page.html"
    counts = random_counts(ITEMS - 1) | NOTED
    table = table_of(counts, n=[2 * sum(cells) + 9 for cells in counts.values()])
    make_report(table, "hotel", counts=NAMES, q=0.2, n_column="n", above=3.5, output=target)
    return target


@contextmanager
def opened(chromium_browser: Browser, file: Path, **options: Any) -> Iterator[Page]:
    """Open the page without a network; it must not complain, nor ask for anything."""
    with (
        profile(chromium_browser, offline=True, **options) as context,
        visiting(context, file.as_uri()) as visit,
    ):
        yield visit.open()


@pytest.fixture
def page(chromium_browser: Browser, file: Path) -> Iterator[Page]:
    with opened(chromium_browser, file) as page:
        yield page


def column(page: Page, heading: str) -> list[str]:
    """The cells below a heading."""
    heads = page.locator("#items thead th").all_text_contents()
    place = [head.strip() for head in heads].index(heading)
    return page.locator(f"#items tbody tr > :nth-child({place + 1})").all_text_contents()


def names(page: Page) -> list[str]:
    return [cell.strip() for cell in page.locator("#items tbody th").all_text_contents()]


def test_pictures_are_shown(page: Page) -> None:
    sizes = page.locator("figure img").evaluate_all("all => all.map(i => i.naturalWidth)")
    assert len(sizes) == 4
    assert min(sizes) > 500


def test_first_rows_then_more_then_all(page: Page) -> None:
    rows = page.locator("#items tbody tr")
    expect(rows).to_have_count(50)
    expect(page.locator("#count")).to_have_text(f"50 of {ITEMS} shown")
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(ITEMS)
    expect(page.get_by_role("button", name="Show all")).to_be_hidden()


def test_search(page: Page) -> None:
    page.get_by_label("Search").fill("ITEM 000")
    assert sorted(names(page)) == [f"item 000{digit}" for digit in range(10)]
    expect(page.locator("#count")).to_have_text("10 of 10 found shown")
    page.get_by_label("Search").fill("no such thing")
    expect(page.locator("#items tbody tr")).to_have_count(0)
    page.get_by_label("Search").fill("")
    expect(page.locator("#items tbody tr")).to_have_count(50)


@pytest.mark.parametrize("heading", ["ratings", "average", "estimate"])
def test_sort_by_numbers(page: Page, heading: str) -> None:
    page.get_by_role("button", name="Show all").click()
    head = page.locator("#items thead").get_by_role("button", name=heading, exact=True)
    head.click()
    cells = column(page, heading)
    known = [float(cell.replace(",", "")) for cell in cells if cell != "–"]
    assert len(known) >= ITEMS - 1
    assert known == sorted(known)
    # What is no number comes last, whichever way round.
    assert "–" not in cells[: len(known)]
    expect(page.locator("th[aria-sort=ascending]")).to_have_count(1)
    head.click()
    assert [float(cell.replace(",", "")) for cell in column(page, heading) if cell != "–"] == (
        sorted(known, reverse=True)
    )
    expect(page.locator("th[aria-sort=descending]")).to_have_count(1)


def test_sort_by_ranges_and_words(page: Page) -> None:
    page.get_by_role("button", name="Show all").click()
    heads = page.locator("#items thead")
    heads.get_by_role("button", name="rank range", exact=True).click()
    ranges = [[int(end) for end in cell.split(" to ")] for cell in column(page, "rank range")]
    assert [one[0] for one in ranges] == sorted(one[0] for one in ranges)
    heads.get_by_role("button", name="hotel", exact=True).click()
    assert names(page) == sorted(names(page))
    heads.get_by_role("button", name="above 3.5 if q").click()
    order = {"any": -1.0, ">0.99": 0.99, "never": 2.0}
    found = [order.get(cell) or float(cell) for cell in column(page, "above 3.5 if q\xa0>")]
    assert found == sorted(found)
    assert {-1.0, 2.0} <= set(found)


def test_sort_by_keyboard(page: Page) -> None:
    page.get_by_label("Search").focus()
    page.keyboard.press("Tab")  # into the box that scrolls
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "hotel"
    assert names(page) == sorted(names(page))
    page.keyboard.press(" ")
    assert names(page) == sorted(names(page), reverse=True)
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px"


def test_search_and_sort_go_together(page: Page) -> None:
    page.locator("#items thead").get_by_role("button", name="hotel", exact=True).click()
    page.get_by_label("Search").fill("item 00")
    assert names(page) == [f"item 00{place:02}" for place in range(50)]


def test_without_scripts_everything_is_there(chromium_browser: Browser, file: Path) -> None:
    with opened(chromium_browser, file, java_script_enabled=False) as page:
        expect(page.locator("#items tbody tr")).to_have_count(ITEMS)
        expect(page.get_by_label("Search")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_nobody_is_shut_out(chromium_browser: Browser, file: Path, scheme: str, width: int) -> None:
    viewport = {"width": width, "height": 800}
    with opened(chromium_browser, file, color_scheme=scheme, viewport=viewport) as page:
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found] == []
        assert overflow(page) <= 0
        shown = page.locator("figure img").first.evaluate(
            "image => [...image.parentElement.children].find("
            "one => (one.srcset || one.src) === image.currentSrc).media || ''"
        )
        assert ("dark" in shown, "640px" in shown) == (scheme == "dark", width == 360)
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 25, 29)"}[scheme]


def test_a_desktop_is_used_in_its_whole_width(chromium_browser: Browser, file: Path) -> None:
    with opened(chromium_browser, file, viewport={"width": 1366, "height": 768}) as page:
        for selector in (".columns", "#items"):
            for one in page.locator(selector).all():
                box = one.bounding_box()
                assert box is not None
                assert box["width"] >= 0.9 * 1366
        halves = page.locator(".columns > *").all()
        sides = {round(half.bounding_box()["x"]) for half in halves}  # type: ignore[index]
        assert len([x for x in sides if x > 1366 / 2]) >= 1
        expect(page.locator(".scroll.wider")).to_have_count(0)


def test_tables_that_go_on_sideways_say_so(chromium_browser: Browser, file: Path) -> None:
    with opened(chromium_browser, file, viewport={"width": 390, "height": 844}) as page:
        box = page.get_by_role("region", name="Table of all items")
        # It is measured once the page is laid out.
        expect(box).to_have_class(re.compile(r"\bwider\b"))
        cue = "box => getComputedStyle(box, '::before').content"
        assert "Scroll sideways" in box.evaluate(cue)
        wide = page.locator(".scroll").evaluate_all(
            "all => all.map(box => [box.scrollWidth > box.clientWidth + 1, "
            "box.classList.contains('wider')])"
        )
        assert len(wide) == 4
        assert all(is_wide == says_so for is_wide, says_so in wide)
        # The name of an item stays in sight.
        box.evaluate("box => { box.scrollLeft = 200; }")
        name = page.locator("#items tbody th").first.bounding_box()
        assert name is not None
        assert 0 <= name["x"] < 40


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print(chromium_browser: Browser, file: Path, scheme: str, tmp_path: Path) -> None:
    with opened(chromium_browser, file, color_scheme=scheme) as page:
        page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
        page.emulate_media(media="print")
        assert page.locator("#items tbody tr:visible").count() == 30
        expect(page.get_by_text("Only 30 rows are printed")).to_be_visible()
        expect(page.get_by_label("Search")).to_be_hidden()
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == "rgb(255, 255, 255)"
        light = page.locator("figure img").first.evaluate("i => i.currentSrc === i.src")
        assert light


def test_hostile_names_stay_words(chromium_browser: Browser, tmp_path: Path) -> None:
    evil = ["<img src=x onerror=alert(1)>", "<script>alert(2)</script>", "</table>", "a & b"]
    target = tmp_path / "page.html"
    counts = {name: [place, 2, 3, 4, 9] for place, name in enumerate(evil)}
    make_report(table_of(counts), "hotel", counts=NAMES, q=0.5, output=target)
    with opened(chromium_browser, target) as page:
        assert sorted(names(page)) == sorted(evil)
        page.get_by_label("Search").fill("onerror")
        assert names(page) == evil[:1]
