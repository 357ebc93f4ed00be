"""The page in a real browser: a table."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

import unheard as uh
from tests.web.browser import Visit, download, paste

pytestmark = pytest.mark.xdist_group("browser")

HOSTILE = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "=1+1", "@SUM(1)", "Älm 🌳"]
STAYS = Path(__file__).parents[2] / "docs" / "stays.csv"


def choose(page: Page, name: str, content: bytes) -> None:
    kind = "application/octet-stream"
    file = FilePayload(name=name, mimeType=kind, buffer=content)
    page.locator("#table-file").set_input_files([file])


def setting(page: Page, label: str) -> Locator:
    """What the reader says about the columns, opened if it is folded."""
    details = page.locator("#table-layout details")
    details.evaluate("details => (details.open = true)")
    return details.get_by_label(label, exact=True)


def ranked(page: Page) -> list[str]:
    """Names in the order shown."""
    return page.locator(".ranking tbody th").all_inner_texts()


def shows_ranking(page: Page, *names: str) -> None:
    expect(page.locator(".ranking tbody th")).to_have_text(list(names))


def rated(frame: pd.DataFrame) -> list[str]:
    """Names of the items, best first, as Python ranks them."""
    found = uh.rate(frame, item="hotel", rating="stars", q=0.3)
    return list(found.sort_values(["ci_lower", "estimate"], ascending=False)["hotel"])


def test_a_file_is_looked_into_and_ranked(visit: Visit, tmp_path: Path) -> None:
    page = visit.open("#table")
    expect(page.locator("#table-limits")).to_contain_text("up to 1 MiB")
    choose(page, "stays.csv", STAYS.read_bytes())
    expect(page.locator("#table-layout")).to_contain_text("stays.csv · 120 rows, 4 columns")
    shows_ranking(page, *rated(pd.read_csv(STAYS)))
    assert setting(page, "Item").input_value() == "hotel"
    assert setting(page, "Rating").input_value() == "stars"
    expect(page.locator("#table-headline")).to_contain_text("2 of 5 ranks are settled")
    expect(page.locator("#table-chart svg")).to_be_visible()
    page.locator("#table-k").fill("2")
    expect(page.locator("#table-text")).to_contain_text(
        "in the top 2, ignoring sampling error: Dune."
    )
    expect(page.locator(".ranking thead")).to_contain_text("Top 2")
    table = download(page, "#table-csv", tmp_path).read_text()
    assert [row["hotel"] for row in csv.DictReader(io.StringIO(table))] == ranked(page)
    assert download(page, "#table-png", tmp_path).read_bytes().startswith(b"\x89PNG")
    report = download(page, "#table-report", tmp_path).read_text()
    assert "stays.csv" in report
    assert "Dune" in report


def test_participation_is_shared_or_separate(visit: Visit) -> None:
    page = visit.open("#table")
    choose(page, "stays.csv", STAYS.read_bytes())
    words = page.locator("#table-text")
    expect(words).to_contain_text("80.0% of the pairs of items are in a settled order, under one")
    page.get_by_label("One participation for all items").uncheck()
    expect(words).to_contain_text("50.0% of the pairs of items are in a settled order, under sep")
    expect(page).to_have_url(re.compile("shared=false"))
    page.reload()
    choose(page, "stays.csv", STAYS.read_bytes())
    expect(words).to_contain_text("under separate participation")


def test_a_guessed_scale_is_called_a_guess(visit: Visit) -> None:
    page = visit.open("#table")
    choose(page, "few.csv", b"hotel,stars\nOak,4\nOak,4\nAsh,3\nAsh,3\nAsh,4\n")
    expect(page.locator("#table-layout summary")).to_contain_text("Scale: 1:5 (guessed)")
    setting(page, "Scale")
    guess = page.get_by_text("guessed from values of 3 to 4; change it")
    expect(guess).to_be_visible()
    setting(page, "Scale").fill("1:7")
    expect(guess).to_be_hidden()
    expect(page.locator("#table-layout summary")).not_to_contain_text("guessed")
    shows_ranking(page, "Ash", "Oak")


def test_the_ranking_fits_a_window_of_usual_width(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1200, "height": 900})
    page = visit.open("#table")
    page.get_by_role("button", name="Try the example data").click()
    page.locator("#table-k").fill("2")
    expect(page.locator(".ranking thead")).to_contain_text("Top 2")
    box = page.get_by_role("region", name="Ranking")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0


def test_every_kind_of_file(visit: Visit) -> None:
    frame = pd.read_csv(STAYS)
    page = visit.open("#table")
    kinds = {
        "stays.parquet": frame.to_parquet(),
        "stays.tsv": frame.to_csv(sep="\t", index=False).encode(),
        "stays.jsonl": frame.to_json(orient="records", lines=True).encode(),
        "stays.json": frame.to_json(orient="records").encode(),
        "stays.xlsx": as_workbook("openpyxl", Stays=frame),
        "stays.ods": as_workbook("odf", Stays=frame),
        "stays.txt": frame.to_csv(sep="\t", index=False).encode("utf-16"),
        "stays.csv.gz": gzip.compress(frame.to_csv(index=False).encode()),
    }
    for name, content in kinds.items():
        choose(page, name, content)
        expect(page.locator("#table-layout")).to_contain_text(f"{name} · 120 rows")
        shows_ranking(page, *rated(frame))
    choose(page, "stays.docx", b"PK")
    expect(page.locator("#source-problem")).to_contain_text("“stays.docx” is not a supported file")
    shows_ranking(page, *rated(frame))


def as_workbook(engine: str, **sheets: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    with pd.ExcelWriter(file, engine=engine) as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name, index=False)
    return file.getvalue()


def test_a_sheet_is_chosen_of_several(visit: Visit) -> None:
    visit.expect_status(422)
    frame = pd.read_csv(STAYS)
    other = frame[frame["hotel"] != "Birch"]
    page = visit.open("#table")
    choose(page, "years.xlsx", as_workbook("openpyxl", Early=frame, Late=other))
    problem = page.locator("#source-problem")
    expect(problem).to_contain_text("has 2 sheets to choose from. Name one such as “Sheet: Early”")
    sheet = page.get_by_label("Sheet", exact=True)
    expect(sheet.locator("option")).to_have_text(["choose one", "Early", "Late"])
    sheet.select_option("Late")
    shows_ranking(page, *rated(other))
    expect(problem).to_be_empty()
    page.locator(".ranking tbody th button").first.click()  # its counts are of this sheet, too
    expect(page.locator("#view-one")).to_be_visible()
    page.go_back()
    page.get_by_label("Sheet", exact=True).select_option("Early")
    shows_ranking(page, *rated(frame))


def test_a_choice_outlasts_what_is_being_read(visit: Visit) -> None:
    """What arrives about a file as it was read before is not about the sheet chosen since."""
    visit.expect_status(422)
    frame = pd.read_csv(STAYS)
    other = frame[frame["hotel"] != "Birch"]
    page = visit.open("#table")
    choose(page, "years.xlsx", as_workbook("openpyxl", Early=frame, Late=other))
    problem = page.locator("#source-problem")
    expect(problem).to_contain_text("has 2 sheets to choose from")
    held: list[Route] = []
    # Playwright leaves a mark on what it calls, which a built-in method does not take.
    page.route("**/inspect*", lambda route: held.append(route), times=1)  # noqa: PLW0108
    with page.expect_request("**/inspect*"):
        page.locator("#q").fill("0.30")
    page.get_by_label("Sheet", exact=True).select_option("Late")
    held[0].continue_()
    shows_ranking(page, *rated(other))
    expect(problem).to_be_empty()
    assert page.get_by_label("Sheet", exact=True).input_value() == "Late"


def test_an_encoding_is_stated_where_it_cannot_be_told(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open("#table")
    rows = "отель,оценка\n" + "Берёза,5\nОльха,4\nБерёза,4\n" * 9
    choose(page, "stays.csv", rows.encode("cp1251"))
    expect(page.locator("#source-problem")).to_contain_text(
        "encoding of table.csv cannot be detected"
    )
    page.get_by_label("Encoding", exact=True).select_option("cp1251")
    shows_ranking(page, "Берёза", "Ольха")
    # What the columns are was told from their names, and the preview says so.
    setting(page, "Rating")
    first = page.locator("#table-layout tbody tr")
    expect(first.nth(0)).to_contain_text("отельItemtext")
    expect(first.nth(1)).to_contain_text("оценкаRatingwhole")
    assert page.locator("#table-layout thead th").all_inner_texts()[5:] == [
        f"Row {at}" for at in range(1, 6)
    ]


def test_a_table_without_a_header(visit: Visit) -> None:
    page = visit.open("#table")
    choose(page, "stays.csv", b"Alder,5\nAlder,4\nBirch,3\nBirch,1\n" * 5)
    shows_ranking(page, "Alder", "Birch")
    expect(page.locator("#table-notes")).to_contain_text(
        "has no header: its columns are numbered 1 to 2"
    )


def test_a_file_that_cannot_be_read_leaves_nothing_of_the_last_one(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open("#table")
    choose(page, "stays.csv", STAYS.read_bytes())
    shows_ranking(page, *rated(pd.read_csv(STAYS)))
    expect(page.locator("#table-chart svg")).to_be_visible()
    choose(page, "broken.parquet", b"no parquet at all")
    expect(page.locator("#source-problem")).to_contain_text("parquet")
    for gone in ("#table-layout", "#table-answer"):
        expect(page.locator(gone)).to_be_hidden()
    expect(page.locator("#table-problem")).to_be_empty()
    page.locator("#q").fill("0.4")
    expect(page.locator("#assumption-text")).to_contain_text("at least 0.4 times")
    expect(page.locator("#source-problem")).to_contain_text("parquet")
    choose(page, "two.csv", b"hotel,stars\nOak,5\nOak,4\nAsh,1\nAsh,2\n")
    shows_ranking(page, "Oak", "Ash")
    expect(page.locator("#source-problem")).to_be_empty()


def test_the_last_file_is_out_of_sight_while_another_is_worked_on(visit: Visit) -> None:
    page = visit.open("#table")
    choose(page, "stays.csv", STAYS.read_bytes())
    expect(page.locator("#table-chart svg")).to_be_visible()
    page.route("**/api/v1/rank/chart?*", lambda _: None)  # never answered
    choose(page, "two.csv", b"hotel,stars\nOak,5\nOak,4\nAsh,1\nAsh,2\n")
    expect(page.locator("#table-answer")).to_be_hidden()
    shows_ranking(page, "Oak", "Ash")
    expect(page.locator("#table-chart svg")).to_have_count(0)
    page.get_by_role("button", name="Cancel").first.click()
    page.unroute_all(behavior="ignoreErrors")


def test_only_an_answer_to_what_is_asked_is_downloaded(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open("#table")
    choose(page, "stays.csv", STAYS.read_bytes())
    buttons = page.locator("#view-table .downloads button")
    for button in buttons.all():
        expect(button).to_be_enabled()
    page.locator("#q").fill("7")
    expect(page.locator("#table-problem")).to_contain_text("must be in (0, 1]")
    for button in buttons.all():
        expect(button).to_be_disabled()
    page.locator("#q").fill("0.5")
    for button in buttons.all():
        expect(button).to_be_enabled()
    expect(page.locator("#table-problem")).to_be_empty()


def test_rows_are_pasted_and_a_file_is_dropped(visit: Visit) -> None:
    page = visit.open("#table")
    # Until then the page is still opening, and what is below may move.
    expect(page.locator("#table-limits")).to_contain_text("up to 1 MiB")
    page.get_by_text("Or paste rows").click()
    page.locator("#table-paste").focus()
    paste(page, "hotel\tstars\nOak\t5\nOak\t4\nAsh\t1\nAsh\t2\n")
    page.get_by_role("button", name="Use these rows").click()
    shows_ranking(page, "Oak", "Ash")
    page.get_by_role("link", name="One rating").click()
    page.evaluate(
        """() => {
            const dropped = new DataTransfer();
            const rows = "hotel,stars\\nFir,5\\nFir,4\\nYew,1\\nYew,2\\nElm,5\\nElm,5\\n";
            dropped.items.add(new File([rows], "dropped.csv"));
            for (const type of ["dragover", "drop"]) {
                const given = { dataTransfer: dropped, bubbles: true, cancelable: true };
                document.body.dispatchEvent(new DragEvent(type, given));
            }
        }"""
    )
    shows_ranking(page, "Elm", "Fir", "Yew")
    expect(page.locator("#view-table")).to_be_visible()
    page.locator("#table-paste").fill("hotel,stars")
    page.get_by_role("button", name="Use these rows").click()
    expect(page.locator("#source-problem")).to_contain_text("at least one row")


def test_names_are_text_wherever_they_are_shown(visit: Visit, tmp_path: Path) -> None:
    rows = [
        {"hotel": name, "stars": stars}
        for place, name in enumerate(HOSTILE)
        for stars in [5] * (20 - 3 * place) + [1] * (5 + place)
    ]
    page = visit.open("#table")
    page.on("dialog", lambda dialog: visit.complaints.append(f"dialog: {dialog.message}"))
    choose(page, "rows.jsonl", "\n".join(map(json.dumps, rows)).encode())
    expect(page.locator(".ranking tbody th")).to_have_count(len(HOSTILE))
    assert sorted(ranked(page)) == sorted(HOSTILE)
    expect(page.locator("#table-chart svg")).to_be_visible()
    expect(page.locator("#view-table script, #view-table img")).to_have_count(0)
    page.locator("#table-chart svg").hover()
    with download(page, "#table-csv", tmp_path).open(newline="", encoding="utf-8") as file:
        names = {row["hotel"] for row in csv.DictReader(file)}
    assert {"'=1+1", "'@SUM(1)", "Älm 🌳"} <= names
    report = download(page, "#table-report", tmp_path).read_text()
    assert "<script>alert(1)</script>" not in report
    page.get_by_role("button", name=HOSTILE[1]).click()
    expect(page.locator("#one-about")).to_contain_text(f"Ratings of {HOSTILE[1]}, from rows.jsonl")
    expect(page.locator("#view-one img")).to_have_count(0)


def test_columns_may_be_called_anything(visit: Visit) -> None:
    page = visit.open("#table")
    rows = '"hotel, town","stars ""1, 5"""\nOak,5\nOak,4\nAsh,1\nAsh,2\nAsh,2\n'
    choose(page, "odd.csv", rows.encode())
    shows_ranking(page, "Oak", "Ash")
    page.get_by_role("button", name="Ash").click()
    expect(page.locator("#one-headline")).to_contain_text("average 1.67")


def test_ratings_off_the_scale_and_empty_ones(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open("#table")
    choose(page, "odd.csv", b"hotel,stars\nOak,5\nOak,4\nOak,\nAsh,1\nAsh,2\nAsh,9\nAsh,4\n")
    setting(page, "Scale").fill("1:5")
    alert = page.locator("#table-problem")
    expect(alert).to_contain_text("1 row has no rating (for example hotel='Oak'")
    expect(alert).to_contain_text("1 rating is not on the scale 1 to 5: '9' (once)")
    for choice in (
        "“Empty ratings: count them as people who did not respond”",
        "“Empty ratings: leave them out”",
        "“Ratings off the scale: leave them out”",
    ):
        expect(alert).to_contain_text(choice)
    setting(page, "Ratings off the scale").select_option("leave them out")
    expect(alert).not_to_contain_text("scale")
    setting(page, "Empty ratings").select_option("count them as people who did not respond")
    expect(alert).to_be_empty()
    shows_ranking(page, "Oak", "Ash")
    expect(page.locator("#table-notes")).to_contain_text("nulls_counted")
    expect(page.locator(".ranking thead")).to_contain_text("People")


def test_a_table_as_spreadsheets_write_it(visit: Visit) -> None:
    visit.expect_status(422)  # before the scale is that of the ratings
    page = visit.open("#table")
    choose(page, "odd.csv", b"sep=;\r\nhotel;stars;stars\r\nOak;4,5;1\r\nAsh;1;2\r\nAsh;2,5;2\r\n")
    setting(page, "Rating").select_option("stars (1)")
    setting(page, "Scale").fill("0.5:5:0.5")
    shows_ranking(page, "Ash", "Oak")  # two ratings have the higher lower confidence limit
    expect(page.locator(".ranking tbody tr").last).to_contain_text("4.50")
    choose(page, "odd.csv", "hotel,stars\nMüller,5\n".encode("latin-1"))
    shows_ranking(page, "Müller")
    expect(page.locator("#table-notes")).to_contain_text("it was read as Windows-1252")


def test_a_table_of_counts(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open("#table")
    table = b"course,n1,n2,n3,n4,n5,students\nLogic,1,2,3,4,50,200\nGreek,9,9,9,9,9,100\n"
    choose(page, "courses.csv", table)
    shows_ranking(page, "Logic", "Greek")
    assert setting(page, "Each row is").input_value() == "counts"
    found = uh.estimate([1, 2, 3, 4, 50], q=0.3, n=200)
    expect(page.locator(".ranking tbody tr").first).to_contain_text(f"{found.estimate:.2f}")
    setting(page, "Number of people").select_option("not known")
    found = uh.estimate([1, 2, 3, 4, 50], q=0.3)
    expect(page.locator(".ranking tbody tr").first).to_contain_text(f"{found.estimate:.2f}")
    setting(page, "n1").uncheck()
    setting(page, "Scale").fill("2:5")
    found = uh.estimate([2, 3, 4, 50], q=0.3, scale="2:5")
    expect(page.locator(".ranking tbody tr").first).to_contain_text(f"{found.estimate:.2f}")


def test_rows_are_found_sorted_and_opened(visit: Visit) -> None:
    counts = {f"Item {place:03}": [place + 1, 2, 3, 4, 130 - place] for place in range(120)}
    lines = [f"{name},{','.join(map(str, row))}" for name, row in counts.items()]
    page = visit.open("#table")
    choose(page, "items.csv", "\n".join(["item,n1,n2,n3,n4,n5", *lines]).encode())
    expect(page.locator(".ranking tbody tr")).to_have_count(50)
    expect(page.get_by_text("50 of 120 items shown.")).to_be_visible()
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".ranking tbody tr")).to_have_count(100)
    heading = page.get_by_role("columnheader", name="Average")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    assert ranked(page)[0] == "Item 000"
    heading.get_by_role("button").press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    assert ranked(page)[0] == "Item 119"
    page.get_by_label("Find an item").fill("item 07")
    expect(page.locator(".ranking tbody tr")).to_have_count(10)
    page.get_by_role("button", name="Item 077").click()
    expect(page.get_by_text("Ratings of Item 077, from items.csv.")).to_be_visible()
    fields = page.locator("#one-counts input").all()
    assert [field.input_value() for field in fields] == list(map(str, counts["Item 077"]))
    found = uh.estimate(counts["Item 077"], q=0.3)
    words = f"{found.lower:.2f} and {found.upper:.2f}"
    expect(page.locator("#one-headline")).to_contain_text(words)
    visit.rest()
    assert "077" not in page.url.partition("#")[2]
    page.go_back()
    expect(page.locator("#view-table")).to_be_visible()


def test_example_data_and_a_change_of_the_assumption(visit: Visit) -> None:
    page = visit.open("#table")
    page.locator("#q").fill("0.4")
    expect(page.locator("#assumption-text")).to_contain_text("at least 0.4 times")
    page.locator("#q").fill("0.3")
    page.get_by_role("button", name="Try the example data").click()
    expect(page.locator("#table-headline")).to_contain_text("2 of 6 ranks are settled")
    expect(page.locator("#table-text")).to_contain_text("of the pairs of items")
    assert len(ranked(page)) == 6
    expect(page.locator("#assumption-text")).to_contain_text("at least 0.3 times as often")
    page.get_by_label("people with low ratings").check()
    expect(page.locator("#assumption-text")).to_contain_text("The lower their rating")
    expect(page.locator("#table-chart svg")).to_be_visible()


def test_long_work_is_cancelled(visit: Visit) -> None:
    page = visit.open("#table")
    page.route("**/api/v1/rank?*", lambda _: None)  # never answered
    page.get_by_role("button", name="Try the example data").click()
    expect(page.locator("#table-doing")).to_contain_text("Ranking the items …")
    page.get_by_role("button", name="Cancel").first.click()
    expect(page.locator("#table-problem")).to_contain_text("Cancelled")
    expect(page.locator("#table-working")).to_have_css("visibility", "hidden")
    page.unroute_all(behavior="ignoreErrors")
    page.locator("#q").fill("0.25")
    expect(page.locator("#table-headline")).to_contain_text("settled")
    expect(page.locator("#table-problem")).to_be_empty()


def test_a_file_that_is_too_large_is_not_sent(visit: Visit) -> None:
    page = visit.open("#table")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    choose(page, "large.csv", b"hotel,stars\n" + b"Oak,5\n" * 200_000)
    expect(page.locator("#source-problem")).to_contain_text("This server accepts up to 1 MiB")
    assert not any("inspect" in url for url in asked)


def test_words_that_are_not_recognised_can_be_explained(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open("#table")
    choose(page, "survey.csv", b"item,answer\nA,so\nA,la\nA,so\nB,la\nB,la\n")
    problem = page.locator("#table-problem")
    expect(problem).to_contain_text("say what each stands for, as in “Labels: la=?,so=?”")
    labels = setting(page, "Labels")
    labels.fill("la=?,so=?")
    expect(problem).to_contain_text("“Labels” must give 'la' a number; got '?'")
    labels.fill("la=1,so=2")
    shows_ranking(page, "A", "B")


def test_words_are_read_as_ratings_once_accepted(visit: Visit) -> None:
    visit.expect_status(422)
    page = visit.open("#table")
    given = {"A": ["Agree"] * 4 + ["Strongly agree", "N/A"], "B": ["Disagree", "Neutral"] * 3}
    rows = "".join(f"{item},{word}\n" for item, words in given.items() for word in words)
    choose(page, "survey.csv", f"item,answer\n{rows}".encode())
    expect(page.locator("#table-problem")).to_contain_text("are words, which may be read as")
    reading = page.get_by_role("region", name="These words may be read as ratings")
    expect(reading.locator("tbody tr")).to_have_text(
        [
            *("strongly disagree10", "Disagree23", "Neutral33", "Agree44", "Strongly agree51"),
            "N/Ano rating1",
        ]
    )
    reading.get_by_role("button", name="Read them like this").click()
    # What is no rating is one more decision.
    expect(page.locator("#table-problem")).to_contain_text("1 row has no rating")
    setting(page, "Empty ratings").select_option("drop")
    shows_ranking(page, "A", "B")
    assert "N/A=" in setting(page, "Labels").input_value()
    assert setting(page, "Scale").input_value() == "1:5"
