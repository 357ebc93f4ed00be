"""``unheard calibrate`` as users type it, and what it finds in the hands of the other commands."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import unheard as uh
from tests.cli.typed import refused, typing
from tests.learning import list_responses, simulate_rates, simulate_waves
from tests.strategies import Floats
from unheard.analysis.assumption_file import build_participation_document
from unheard.model.studies import EVIDENCE

FOUND = ("estimate", "lower", "upper", "ci_lower", "ci_upper")
COUNTS = [5, 10, 35, 120, 30]
TYPED = [str(count) for count in COUNTS]
OTHER = [30, 25, 45, 80, 20]
STAYS = {
    "Alder": [6, 2, 4, 9, 21],
    "Birch": [1, 3, 9, 19, 10],
    "Cedar": [0, 1, 1, 1, 11],
    "Elm": [7, 5, 1, 4, 1],
}
TABLE = ["stays.csv", "--item", "hotel", "--rating", "stars"]
PEOPLE = ["audit.csv", "--item", "hotel", "--rating", "stars", "--answered", "public"]


def write(path: str, *rows: list[Any]) -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def hotels() -> tuple[list[str], Floats, Floats]:
    """Fourteen hotels, the first eight in the north; people with low ratings are the quieter."""
    rng = np.random.default_rng(5)
    truth = np.array([rng.multinomial(40, rng.dirichlet([1, 1, 2, 3, 3])) for _ in range(14)])
    names = [f"h{i:02}" for i in range(14)]
    observed = rng.binomial(truth, [0.15, 0.2, 0.3, 0.4, 0.7])
    return names, observed.astype(float), truth.astype(float)


NAMES, OBSERVED, TRUTH = hotels()
FEW = slice(0, 3)
"""Too few hotels to tell how they differ, which saves the time to find out."""


def person_rows(which: slice = slice(None)) -> list[list[Any]]:
    rows: list[list[Any]] = [["region", "hotel", "stars", "public"]]
    for name, seen, everybody in list(zip(NAMES, OBSERVED, TRUTH, strict=True))[which]:
        for star in range(5):
            for person in range(int(everybody[star])):
                region = "north, upper" if name < "h08" else "south"
                rows.append([region, name, star + 1, "yes" if person < seen[star] else "no"])
    return rows


@pytest.fixture(scope="module")
def audit() -> uh.Audit:
    return uh.calibrate(OBSERVED, TRUTH)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    stays = [
        [name, star] for name, counts in STAYS.items() for star in range(1, 6)
        for _ in range(counts[star - 1])
    ]  # fmt: skip
    write("stays.csv", ["hotel", "stars"], *stays)
    write("audit.csv", *person_rows(FEW))

    return typing(monkeypatch, capsys)


@pytest.fixture
def stored(run: Any, audit: uh.Audit) -> uh.Assumption:
    """An audit of all hotels, kept in audit.json."""
    uh.write_assumption(audit, "audit.json")
    return audit.assumption


def strict(text: str) -> Any:
    """Read one JSON document without NaN and infinity, which are not JSON."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(text, parse_constant=refuse)


def agrees(row: dict[str, Any], wanted: Any, where: int | None = None) -> None:
    for name in FOUND:
        one = getattr(wanted, name)
        assert row[name] == pytest.approx(one if where is None else one[where], abs=1e-9), name


# What is found.


def test_json_is_what_the_library_finds(run: Any, audit: uh.Audit) -> None:
    write("audit.csv", *person_rows())
    done = run("calibrate", *PEOPLE, "-o", "audit.json", "--json")
    assert (done.code, done.err) == (0, "")
    document = strict(done.out)
    assert document.keys() >= {
        *("scale", "g", "g_lower", "g_upper", "q", "q_lower", "quiet", "words", "level", "items"),
    }
    assert document == strict(json.dumps(build_participation_document(audit)))
    assert document == strict(Path("audit.json").read_text(encoding="utf-8"))
    assert (document["items"], document["audited"]) == (14, 560)
    assert document["answered"] == OBSERVED.sum()
    assert document["quiet"] == "low"
    assert document["pool"] is not None
    assert list(Path().glob(".*")) == []


@pytest.mark.parametrize("unpaired", [False, True])
def test_screen(run: Any, unpaired: bool) -> None:
    found = uh.calibrate(OBSERVED[FEW], TRUTH[FEW], paired=not unpaired, level=0.9)
    done = run("calibrate", *PEOPLE, "--level", "0.9", *(["--unpaired"] * unpaired))
    assert (done.code, done.err) == (0, "")
    assert "120 people audited" in done.out
    assert ("relative" if unpaired else "participation") in done.out
    for r in range(5):
        box = f"{found.g_lower[r]:.3f} to {found.g_upper[r]:.3f}"
        assert re.search(rf"\n +{r + 1} .* {found.g[r]:.3f}  {box}\n", done.out)
    assert found.words in " ".join(done.out.split())
    assert "Keep it: -o audit.json" in done.out
    assert max(len(line) for line in done.out.splitlines()) <= 80


def test_a_rating_that_nobody_audited_holds(run: Any) -> None:
    write("audit.csv", *(row for row in person_rows(FEW) if row[2] != 2))
    document = strict(run("calibrate", *PEOPLE, "-o", "audit.json", "--json").out)
    assert document["g"][1] is None
    assert "Nobody audited has the rating 2" in document["words"]
    assert "unknown" in run("calibrate", *PEOPLE).out
    found = strict(run("estimate", *TYPED, "--assumption", "audit.json", "--json").out)
    assert found["assumption"]["kind"] == "box"
    agrees(found["estimates"][0], uh.estimate(COUNTS, assumption=uh.read_assumption("audit.json")))


def test_segments(run: Any) -> None:
    # One in the north, whose name has a comma in it, and two in the south.
    write("audit.csv", *person_rows(slice(7, 10)))
    words = [*PEOPLE, "--segment", "region"]
    document = strict(run("calibrate", *words, "-o", "audit.json", "--json").out)
    assert list(document) == ["segments"]
    assert list(document["segments"]) == ["north, upper", "south"]
    north, south = (
        uh.calibrate(OBSERVED[7:8], TRUTH[7:8]),
        uh.calibrate(OBSERVED[8:10], TRUTH[8:10]),
    )
    assert document["segments"]["south"] == strict(json.dumps(build_participation_document(south)))
    for name, one in (("north, upper", north), ("south", south)):
        done = run("estimate", *TYPED, "--assumption", f"audit.json#{name}", "--n", "900", "--json")
        agrees(
            strict(done.out)["estimates"][0], uh.estimate(COUNTS, assumption=one.assumption, n=900)
        )
    shown = run("calibrate", *words, "-o", "voices.csv")
    assert "region: south" in shown.out
    assert "--q-table voices.csv" in shown.out
    with Path("voices.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["region"] for row in rows] == ["north, upper", "south"]
    assert [float(row["q"]) for row in rows] == [north.q_lower, south.q_lower]
    assert [float(row["q_estimate"]) for row in rows] == [north.q, south.q]
    assert rows[1]["quiet"] == south.quiet
    refused(run("estimate", *TYPED, "--assumption", "audit.json"), "has several segments")
    refused(run("estimate", *TYPED, "--assumption", "audit.json#sout"), "no segment 'sout'")


def test_examples_of_the_help_work(run: Any) -> None:
    examples = re.findall(r"^ +unheard (calibrate .*)$", run("calibrate", "--help").out, re.M)
    assert len(examples) == 7
    rng = np.random.default_rng(4)
    survey = list_responses(*simulate_waves(rng, 5, 200))
    write("survey.csv", ["course", "stars", "request", "day", "enrolled"], *survey)
    seen, everybody, _ = simulate_rates(rng, 200)
    responses = [
        [f"c{i}", r + 1, int(everybody[i])] for i, r in np.ndindex(*seen.shape)
        for _ in range(int(seen[i, r]))
    ]  # fmt: skip
    write("courses.csv", ["course", "stars", "n"], *responses)
    for example in examples:
        if "--observed" in example:
            rows = [["a", 1, 2, 4, 5, 3, 4], ["b", 0, 1, 1, 9, 1, 1]]
            write("audit.csv", ["hotel", "o1", "o2", "o3", "t1", "t2", "t3"], *rows)
        elif "--answered" in example:
            header, *people = person_rows(FEW)
            write("audit.csv", [*header[:-1], "reviewed"], *people)
        elif "--population" in example:
            rows = [["a", "observed", 1, 2, 3, 4, 5], ["a", "true", 9, 8, 7, 6, 5]]
            write("audit.csv", ["hotel", "which", *(f"n{r}" for r in range(1, 6))], *rows)
        done = run(*shlex.split(example))
        assert (done.code, done.err) == (0, "")
        assert len(done.out) > 300
    assert uh.read_assumption("audit.json").kind == "audit"


# What the other commands make of it.


@pytest.mark.parametrize("n", [None, 900])
def test_estimate_sweep_and_compare(run: Any, stored: uh.Assumption, n: int | None) -> None:
    words = ["--assumption", "audit.json", *([] if n is None else ["--n", str(n)])]
    document = strict(run("estimate", *TYPED, *words, "--json").out)
    assert document["estimates"][0]["method"] == "pooled"
    agrees(document["estimates"][0], uh.estimate(COUNTS, assumption=stored, n=n))
    shown = run("sweep", *TYPED, *words, "--q", "1,0.5", "--above", "2")
    assert (shown.code, shown.err) == (0, "")
    rows = strict(run("sweep", *TYPED, *words, "--q", "1,0.5", "--json").out)["rows"]
    found = uh.sweep(COUNTS, [1, 0.5], assumption=stored, n=n)
    for where, row in enumerate(rows):
        agrees(row, found, where)
    pair = [",".join(TYPED), ",".join(map(str, OTHER))]
    both = strict(run("compare", *pair, *words, "--json").out)
    wanted = uh.compare(COUNTS, OTHER, assumption=stored, n=None if n is None else (n, n))
    agrees(both["b"], wanted.b)
    agrees(both["shared"], wanted.shared)
    assert both["separate"]["breakdown_q"] == wanted.separate.breakdown_q


@pytest.mark.parametrize("n", [None, 500])
def test_tables(run: Any, stored: uh.Assumption, n: int | None) -> None:
    words = [*TABLE, "--assumption", "audit.json", *([] if n is None else ["--n", str(n)])]
    wanted = uh.estimate(np.array(list(STAYS.values())), assumption=stored, n=n)
    names = list(STAYS)
    rated = strict(run("rate", *words, "--json").out)
    ranked = strict(run("rank", *words, "--k", "1", "--json").out)["rows"]
    text = run("sql", "--dialect", "duckdb", "--table", "stays", *words[1:]).out
    with duckdb.connect() as base:
        base.execute("create table stays as select * from 'stays.csv'")
        made = base.execute(text)
        columns = [column[0] for column in made.description]
        viewed = [dict(zip(columns, row, strict=True)) for row in made.fetchall()]
    # An order goes by intervals, and so do the numbers beside it.
    middle = uh.estimate(
        np.array(list(STAYS.values())),
        assumption=stored,
        n=n,
        method="paa" if n is None else "midpoint",
    )
    for rows, answer in ((rated, wanted), (ranked, middle), (viewed, wanted)):
        assert sorted(row["hotel"] for row in rows) == names
        for row in rows:
            agrees(row, answer, names.index(row["hotel"]))


def test_plan(run: Any, stored: uh.Assumption) -> None:
    words = ["--n", "900", "--width", "0.25", "--assumption", "audit.json"]
    document = strict(run("plan", *TYPED, *words, "--json").out)
    found = uh.plan_follow_up(COUNTS, n=900, width=0.25, assumption=stored)
    agrees(document["now"], found.now)
    asked = [(one["name"], one["ask"]) for one in document["scenarios"]]
    assert asked == [(one.name, one.ask) for one in found.scenarios]
    assert any(ask for _, ask in asked)
    shown = run("plan", *TYPED, *words)
    assert (shown.code, shown.err) == (0, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scale", "0:4"], "--scale differs from the scale of --assumption, 1 to 5."),
        (["--q", "0.3"], "Only one assumption can be stated; got q and assumption"),
        (["--quiet", "low"], "--quiet applies only together with --q; got 'low' together"),
        (["--assumption", "no.json"], "no.json cannot be read: No such file"),
        (["--assumption", "."], ". cannot be read: "),
        (
            ["--assumption", "stays.csv"],
            "stays.csv is not the result of a calibration (it is not JSON: ",
        ),
        (["--assumption", "audit.json#north"], "audit.json has no segments; got"),
        (
            ["--assumption", "bytes.json"],
            "bytes.json is not the result of a calibration (it is not JSON: ",
        ),
        (
            ["--assumption", "list.json"],
            "list.json is not the result of a calibration (it is not a JSON object)",
        ),
        (
            ["--assumption", "less.json"],
            "less.json is not the result of a calibration ('g' is mis",
        ),
        (
            ["--assumption", "short.json"],
            "short.json is not the result of a calibration (",
        ),
        (
            ["--assumption", "large.json"],
            "large.json is not the result of a calibration (g[0]",
        ),
        (
            ["--assumption", "text.json"],
            "text.json is not the result of a calibration (",
        ),
        (
            ["--assumption", "pool.json"],
            "pool.json is not the result of a calibration (",
        ),
        (["--assumption", "odd.json#a"], "odd.json has no segments; got"),
        (
            ["--assumption", "none.json#a"],
            "none.json is not the result of a calibration (",
        ),
    ],
)
def test_files_that_cannot_be(
    run: Any, stored: uh.Assumption, audit: uh.Audit, words: list[str], message: str
) -> None:
    good = build_participation_document(audit)
    Path("bytes.json").write_bytes(b"\xff\xfe{")
    for name, document in {
        "list": [1, 2],
        "less": {key: value for key, value in good.items() if key != "g"},
        "short": good | {"g": good["g"][1:]},
        "large": good | {"g": [3, *good["g"][1:]]},
        "text": good | {"g": "many"},
        "pool": good | {"pool": {"without_n": {}, "with_n": None}},
        "odd": {"segments": [1]},
        "none": {"segments": {"a": None}},
    }.items():
        Path(f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    refused(run("estimate", *TYPED, "--assumption", "audit.json", *words), message)


def test_counts_on_another_scale(run: Any, stored: uh.Assumption) -> None:
    message = "5 for the scale 1 to 5; got 4"
    refused(run("estimate", *TYPED[1:], "--assumption", "audit.json"), message)
    refused(run("sweep", *TYPED[1:], "--assumption", "audit.json"), message)


def test_other_people_do_not_tell_how_many_answer(run: Any) -> None:
    assert run("calibrate", *PEOPLE, "--unpaired", "-o", "audit.json").code == 0
    found = strict(run("estimate", *TYPED, "--assumption", "audit.json", "--json").out)
    agrees(found["estimates"][0], uh.estimate(COUNTS, assumption=uh.read_assumption("audit.json")))
    done = run("estimate", *TYPED, "--assumption", "audit.json", "--n", "900")
    refused(done, "--n cannot be combined with an audit")


@pytest.mark.parametrize(("preset", "q"), uh.PRESETS.items())
def test_presets(run: Any, preset: str, q: float) -> None:
    for words in (
        ["estimate", *TYPED],
        ["rate", *TABLE],
        ["plan", *TYPED, "--n", "900", "--width", "1"],
    ):
        named, plain = (run(*words, "--q", text, "--json") for text in (preset, str(q)))
        assert (named.code, named.err) == (0, "")
        assert strict(named.out) == strict(plain.out)
        refused(run(*words, "--q", preset[:-1]), f"got '{preset[:-1]}'. Did you mean {preset}?")


# What is refused, and what is left behind.


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*PEOPLE, "--n", "900"], "--n does not apply to an audit."),
        ([*PEOPLE, "--window", "month"], "--window requires --time."),
        ([*PEOPLE, "-o", "audit.txt"], "--output has an unknown ending"),
        ([*PEOPLE, "-o", "no/audit.json"], "The folder no does not exist"),
        ([*PEOPLE, "-o", "audit.csv"], "audit.csv is also read as a table"),
        ([*PEOPLE, "-o", "new.csv"], "A .csv file requires --segment or --window; got 'new.csv'."),
        ([*PEOPLE, "--level", "2"], "--level must be between 0 and 1; got 2."),
        ([*PEOPLE, "--scale", "1:4"], "ratings are not on the scale 1 to 4"),
        ([*PEOPLE[:-1], "publik"], "Did you mean 'public'?"),
        ([*PEOPLE[:-1], "region"], "Column 'region' must contain yes or no; got 'north, upper'"),
        (PEOPLE[:-2], "do not say who responded. Name one: --answered"),
        ([*PEOPLE, "--population", "x"], "say more than once who responded"),
        (["no.csv", *PEOPLE[1:]], "no.csv"),
        (["empty.csv", *PEOPLE[1:]], "has no rows"),
        (["empty.csv", *PEOPLE[1:], "--segment", "region"], "has no rows"),
        (["--response-rate", *TYPED], "--response-rate requires --n."),
        (
            ["--response-rate", *TYPED, "--unpaired"],
            "--unpaired does not apply to --response-rate.",
        ),
        (["--response-rate", *TABLE, "--wave", "x"], "--wave does not apply to --response-rate."),
        (["--response-rate", *TABLE, "--across-items"], "--across-items does not apply to"),
        (
            ["--response-rate", *TABLE, "--segment", "x"],
            "--segment does not apply to --response-rate.",
        ),
        (
            ["--response-rate", *TYPED, "--n", "199"],
            "--n must be at least 1 and at least the number of ratings, 200; got 199",
        ),
        (["--response-rate", *TYPED, "--n", "x"], "--n is not a number; got 'x'."),
        (
            ["--response-rate", *TYPED, "--n", "900", "-o", "q.csv"],
            "--output does not apply to --response-rate.",
        ),
        (["--response-rate", *TABLE], "--response-rate requires the number of people."),
        (["--response-rate", *TABLE, "--n", "41"], "more ratings than 41, the value of --n"),
    ],
)
def test_refused(run: Any, words: list[str], message: str) -> None:
    write("empty.csv", ["region", "hotel", "stars", "public"])
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    refused(run("calibrate", *words), message)
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize("words", [[], [*PEOPLE, "more.csv"], ["--response-rate"]])
def test_no_table_or_two(run: Any, words: list[str]) -> None:
    done = run("calibrate", *words)
    assert (done.code, done.out) == (2, "")
    assert "Name one table" in done.err


def test_misspelt_options(run: Any) -> None:
    for words in (PEOPLE, ["--response-rate", *TABLE]):
        done = run("calibrate", *words, "--scal", "1:5")
        assert (done.code, done.out) == (2, "")
        assert "--scale" in done.err


@pytest.mark.parametrize(
    "words",
    [
        [*PEOPLE, "-o", "out.json"],
        [*PEOPLE, "--segment", "region", "-o", "out.csv"],
    ],
)
@pytest.mark.parametrize("there", [False, True])
def test_half_written_output_never_stays(
    run: Any, words: list[str], there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Path(words[-1])
    if there:
        target.write_text("what was there", encoding="utf-8")

    def full(path: Path, text: str, encoding: str) -> int:
        with path.open("w", encoding=encoding) as file:
            file.write(text[: len(text) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        done = run("calibrate", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"Error: {target} cannot be written: No space left on device. Make room there, or write "
        "to another place.\n"
    )
    left = {path.name for path in Path().iterdir()} - {"stays.csv", "audit.csv"}
    assert left == ({target.name} if there else set())
    assert not there or target.read_text(encoding="utf-8") == "what was there"


# Response rates.


def test_response_rate_of_counts(run: Any) -> None:
    found = uh.check_response_rates(200, 900, level=0.9)
    words = ["calibrate", "--response-rate", "--n", "900", "--level", "0.9"]
    for typed in (TYPED, [",".join(TYPED)]):
        document = strict(run(*words, *typed, "--json").out)
        assert list(document) == ["drift_p", "rows"]
        assert document["rows"] == [
            {
                "n_ratings": 200,
                "n": 900,
                "rate": 200 / 900,
                "largest_floor": found.largest_floor[0],
            }
        ]
    shown = run(*words, *TYPED)
    assert (shown.code, shown.err) == (0, "")
    assert re.search(rf"\n +200 +900 +22\.2% +{found.largest_floor[0]:.3f}\n", shown.out)
    assert "90% confidence" in shown.out
    assert "same everywhere" not in shown.out


def test_response_rate_of_a_table(run: Any) -> None:
    guests = {"Alder": 300, "Birch": 60, "Cedar": 14, "Elm": 90}
    write("guests.csv", ["hotel", "n"], *([name, n] for name, n in guests.items()))
    words = ["calibrate", "--response-rate", *TABLE, "--n-table", "guests.csv"]
    document = strict(run(*words, "--json").out)
    seen = {name: sum(counts) for name, counts in STAYS.items()}
    found = uh.check_response_rates(list(seen.values()), list(guests.values()))
    assert document["drift_p"] == pytest.approx(found.drift_p)
    rows = {row["hotel"]: row for row in document["rows"]}
    assert list(rows) == list(STAYS)
    for where, (name, row) in enumerate(rows.items()):
        assert (row["n_ratings"], row["n"]) == (seen[name], guests[name])
        assert row["largest_floor"] == pytest.approx(found.largest_floor[where], rel=1e-12)
    assert "The response rates differ (p < 0.001)." in " ".join(run(*words).out.split())


def test_response_rate_by_month(run: Any) -> None:
    months = {
        ("7", "2024-01"): ([3, 0, 1, 6, 20], 60),
        ("7", "2024-02"): ([1, 2, 0, 4, 5], 130),
        ("12", "2024-01"): ([9, 4, 0, 1, 2], 40),
        ("12", "2024-03"): ([0, 1, 1, 0, 3], 400),
    }
    rows = [
        [item, f"{month}-{1 + i:02}", star, n]
        for (item, month), (counts, n) in months.items()
        for star in range(1, 6)
        for i in range(counts[star - 1])
    ]
    write("stays.csv", ["hotel", "day", "stars", "guests"], *rows)
    words = [*TABLE, "--time", "day", "--window", "month", "--n-column", "guests"]
    done = run("calibrate", "--response-rate", *words, "--json")
    found = {(row["hotel"], row["window_start"][:7]): row for row in strict(done.out)["rows"]}
    assert {key: row["rate"] for key, row in found.items()} == {
        key: pytest.approx(sum(counts) / n) for key, (counts, n) in months.items()
    }
    assert re.search(
        r"\n12 +2024-03-01 +2024-04-01 +5 +400 ",
        run("calibrate", "--response-rate", *words).out,
    )


def test_tables_of_q_hold_no_formulas(run: Any) -> None:
    head, *people = person_rows(FEW)
    write("audit.csv", ["=region", *head[1:]], *(["=1", *row[1:]] for row in people))
    assert run("calibrate", *PEOPLE, "--segment", "=region", "-o", "q.csv").code == 0
    assert [line.partition(",")[0] for line in Path("q.csv").read_text().splitlines()] == [
        "'=region",
        "'=1",
    ]


def test_many_rows_are_cut(run: Any) -> None:
    write("stays.csv", ["hotel", "stars"], *([f"h{i:02}", 1 + i % 5] for i in range(25)))
    done = run("calibrate", "--response-rate", *TABLE, "--n", "4")
    assert "5 more rows; --json has all." in done.out
    assert "h19" in done.out
    assert "h20" not in done.out
    words = ["calibrate", "--response-rate", *TABLE, "--n", "4", "--json"]
    assert len(strict(run(*words).out)["rows"]) == 25


# Evidence.


def test_evidence(run: Any) -> None:
    document = strict(run("calibrate", "--evidence", "--json").out)
    assert document["presets"] == uh.PRESETS
    assert len(document["evidence"]) == len(EVIDENCE)
    coat = next(row for row in document["evidence"] if row["name"] == "Coat")
    assert coat["g"] == [0.3517, 0.5556, 0.5957, 0.6914, 1.0]
    assert (coat["q"], coat["quiet"], coat["preset_q"]) == (0.3517, "low", 0.3)
    radio = next(row for row in document["evidence"] if row["name"] == "Online radio")
    assert (radio["g"], radio["q"]) == (None, None)
    done = run("calibrate", "--evidence")
    assert (done.code, done.err) == (0, "")
    for preset, q in uh.PRESETS.items():
        assert f"--q {preset} ({q:g})" in done.out
    said = " ".join(done.out.split())
    for one in EVIDENCE:
        assert f"{one.name}: {one.what}; {one.who} respond less often." in said
        assert ":" not in one.what
    assert "; people with low ratings respond less often." in said
    assert "; voters for Roosevelt respond less often." in said
    assert max(len(line) for line in done.out.splitlines()) <= 80


def test_waves_that_contradict_the_model_are_not_recommended(run: Any) -> None:
    change = np.linspace(-1, 1, 5)
    (counts,), _ = simulate_waves(np.random.default_rng(5), 1, 4000, change=change)
    rows = [[k, *map(int, row)] for k, row in enumerate(counts, 1)]
    write("fair.csv", ["request", "n1", "n2", "n3", "n4", "n5"], *rows)
    words = ["fair.csv", "--counts", "n1,n2,n3,n4,n5", "--wave", "request"]
    done = run("calibrate", *words, "--n", "4000")
    assert done.code == 0
    assert "do not rely on this estimate" in " ".join(done.out.split())
    assert "Do not use what the responses contradict" in done.out
    assert "--assumption" not in done.out
    document = json.loads(run("calibrate", *words, "--n", "4000", "--json").out)
    assert document["asked"] == 4000
    assert len(document["warnings"]) == 1
    assert document["words"].endswith(document["warnings"][0][1:])


def test_wrong_n_of_waves(run: Any) -> None:
    names = [f"n{rating}" for rating in range(1, 6)]
    rows = [["7", 1, 300, 6, 3, 17, 17, 20], ["7", 2, 300, 5, 1, 8, 6, 6]]
    rows += [["12", 1, 10, 6, 3, 17, 17, 20], ["12", 2, 10, 5, 1, 8, 6, 6]]
    write("waves.csv", ["hotel", "request", "guests", *names], *rows)
    words = ["waves.csv", "--item", "hotel", "--counts", ",".join(names), "--wave", "request"]
    refused = run("calibrate", *words, "--n-column", "guests").err
    assert "n is less than the number of ratings for 1 item" in refused
    assert "--bad-n raise" in refused
    assert "--bad-n drop" not in refused  # which is refused as well
    raised = run("calibrate", *words, "--n-column", "guests", "--bad-n", "raise")
    assert raised.err.count("Note: n was raised for 1 of 2 items") == 1
    assert raised.out.startswith("389 people asked")


def test_equal_participation_in_words() -> None:
    counts = [10, 20, 30, 40, 50]
    words = uh.calibrate([counts] * 3, [[2 * count for count in counts]] * 3).words
    assert "ratio is q = 1: by this estimate, people respond equally often. A q as" in words
