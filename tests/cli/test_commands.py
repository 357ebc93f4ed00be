"""The command as users type it: what it prints, where, and how it ends."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from typing import Any

import pytest

import unheard as uh
from tests.cli.typed import typing

COUNTS = ["120", "30", "45", "200", "605"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    return typing(monkeypatch, capsys)


def test_json_is_the_contract(run: Any) -> None:
    done = run("estimate", *COUNTS, "--q", "0.3", "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["scale"] == [1, 2, 3, 4, 5]
    assert document["counts"] == [120, 30, 45, 200, 605]
    assert document["n"] is None
    assert document["n_ratings"] == 1000
    assert document["level"] == 0.95
    assert document["assumption"]["kind"] == "any"
    assert document["assumption"]["q"] == 0.3
    assert "0.3 times as often" in document["assumption"]["words"]
    (one,) = document["estimates"]
    assert list(one) == [
        *("method", "estimate", "lower", "upper", "ci_lower", "ci_upper", "notes"),
    ]
    expected = uh.estimate([120, 30, 45, 200, 605], 0.3)
    assert one["method"] == "paa"
    assert one["estimate"] == expected.estimate
    assert (one["lower"], one["ci_upper"]) == (expected.lower, expected.ci_upper)
    assert one["notes"] == []


def test_all_methods_with_n(run: Any) -> None:
    document = json.loads(
        run("estimate", *COUNTS, "--q", "0.3", "--n", "2400", "--method", "all", "--json").out
    )
    methods = [one["method"] for one in document["estimates"]]
    assert methods == ["average", "spectral", "paa", "bea", "midpoint"]
    small = run("estimate", "2", "1", "3", "--q", "0.3", "--n", "9", "--method", "all", "--json")
    assert json.loads(small.out)["estimates"][-1]["method"] == "minimax"
    assert document["n"] == 2400
    assert document["response"]["rate"] == pytest.approx(1000 / 2400)


@pytest.mark.parametrize(
    ("words", "method", "stated"),
    [
        (["--q", "0.3", "--n", "2400"], "midpoint", {"kind": "any", "q": 0.3}),
        (["--floor", "0.3", "--n", "2400"], "midpoint", {"kind": "floor", "floor": 0.3}),
        (["--q", "0.3", "--quiet", "low"], "paa", {"kind": "low", "q": 0.3}),
        (
            ["--g", "0.2,0.3,0.4,0.5,0.6"],
            "reweight",
            {"kind": "known", "g": [0.2, 0.3, 0.4, 0.5, 0.6]},
        ),
        (
            ["--participation", ",".join(["0.1:0.4"] * 5)],
            "paa",
            {"kind": "box", "participation": [[0.1, 0.4]] * 5},
        ),
        (["--q", "0.3", "--effective", "700.5"], "paa", {"kind": "any"}),
        (["--q", "0.3", "--scale", "0.5:2.5:0.5", "--level", "0.8"], "paa", {"kind": "any"}),
        (["--q", "0.3", "--n", "2400", "--covers", "people"], "midpoint", {"kind": "any"}),
    ],
)
def test_every_way_to_ask(run: Any, words: list[str], method: str, stated: dict[str, Any]) -> None:
    done = run("estimate", *COUNTS, *words, "--json")
    document = json.loads(done.out)
    assert document["estimates"][0]["method"] == method
    assert document["assumption"].items() >= stated.items()
    shown = run("estimate", *COUNTS, *words)
    assert (shown.code, shown.err) == (0, "")
    assert f"Estimate ({method})" in shown.out


def test_screen_tells_the_story(run: Any) -> None:
    out = run("estimate", *COUNTS, "--q", "0.3").out
    assert "1,000 ratings from an unknown number of people" in out
    assert re.search(r"5 █+ 605  60\.5%", out)
    assert re.search(r"Average of respondents +4\.14", out)
    assert re.search(r"Estimate \(paa\) +4\.00", out)
    assert re.search(r"Bounds +3\.35 to 4\.64", out)
    assert re.search(r"Confidence interval \(95%\) +3\.21 to 4\.69", out)
    assert "Assumption: Whatever their rating, people respond at least 0.3 times" in out
    axis, row = (line for line in out.splitlines() if "┼" in line or line.startswith("  paa"))
    # The estimate 4.00 stands below the tick of 4.
    assert axis[row.index("●")] == "┼"
    assert max(len(line) for line in out.splitlines()) <= 80


def test_screen_warns(run: Any) -> None:
    out = run("estimate", *COUNTS, "--floor", "0.6", "--n", "2400").out
    assert "refutes the assumption" in out
    assert "the floor is at most 0.433" in " ".join(out.split())
    assert "n is not used" in out
    out = run("estimate", *COUNTS, "--floor", "0.3", "--n", "2400", "--method", "all").out
    assert "Note: with bea, the estimate lies outside the bounds that" in " ".join(out.split())
    out = run("estimate", "0", "0", "0", "--q", "0.3").out
    assert "no ratings: the estimate is the middle" in out
    assert "Average of respondents" not in out


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (
            "1200",
            "A response rate of 83.3% narrows the bounds to 3.62 to 4.28; without n they are 3.35 "
            "to 4.64.",
        ),
        ("100000", "The response rate, 1%, is too low to narrow the bounds."),
    ],
)
def test_the_answer_says_what_n_adds(run: Any, n: str, words: str) -> None:
    asked = ["estimate", *COUNTS, "--q", "0.3", "--n", n]
    assert json.loads(run(*asked, "--json").out)["response"]["words"] == words
    assert f"What n adds: {words}" in " ".join(run(*asked).out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["1", "2", "--floor", "0.3"], "--floor requires --n"),
        (
            ["1", "2", "--floor", "0.3", "--q", "0.3", "--n", "9"],
            "got q and floor. Give one of --q",
        ),
        (["1", "2", "--floor", "1.3", "--n", "9"], "--floor must be in (0, 1]; got 1.3"),
        (["1", "2", "-5", "--q", "0.3"], "must be between 0 and 2**53; got -5"),
        (["1", "2", "x", "--q", "0.3"], "count 3 is not a number; got 'x'."),
        (["1", "2.5", "--q", "0.3"], "must be a whole number; got 2.5"),
        (["1", "nan", "--q", "0.3"], "must be between 0 and 2**53; got nan"),
        (["1", "inf", "--q", "0.3"], "must be between 0 and 2**53; got inf"),
        (["1", "9" * 400, "--q", "0.3"], "must be numbers; got something else"),
        (["--q", "0.3"], "COUNTS is missing."),
        ([], "COUNTS is missing."),
        (["7", "--q", "0.3"], "must have at least two counts"),
        (
            ["1", "2", "--scale", "3", "--q", "0.3"],
            "--scale must be first:last or values separated by commas; got '3'.",
        ),
        (
            ["1", "2", "--scale", "2,1", "--q", "0.3"],
            "--scale[1] must be above the value before it, which is 2; got 1",
        ),
        (
            ["1", "2", "--scale", "1,1", "--q", "0.3"],
            "--scale[1] must be above the value before it, which is 1; got 1",
        ),
        (["1", "2", "--q", "0"], "--q must be in (0, 1]; got 0"),
        (["1", "2", "--q", "1.1"], "--q must be in (0, 1]; got 1.1"),
        (["1", "2", "--q", "nan"], "--q must be in (0, 1]; got nan"),
        (["1", "2", "--q", "a lot"], "--q is not a number; got 'a lot'."),
        (["1", "2"], "An assumption about who responds is required. Give --q"),
        (
            ["1", "2", "--participation", "0.5:0.3,0.1:1"],
            "--participation[0] must be lo:hi with 0 < lo <= hi <= 1; got 0.5:0.3",
        ),
        (
            ["1", "2", "--participation", "0:0.3,0.1:1"],
            "--participation[0] must be lo:hi with 0 < lo <= hi <= 1; got 0:0.3",
        ),
        (
            ["1", "2", "--participation", "0.1:1"],
            "one entry for each of the 2 ratings on the scale; got 1",
        ),
        (
            ["1", "2", "--participation", "0.1,0.2"],
            "--participation[0] is not a pair of bounds; got '0.1'.",
        ),
        (
            ["1", "2", "--q", "0.3", "--n", "2"],
            "--n must be at least the number of ratings, 3; got 2",
        ),
        (["1", "2", "--q", "0.3", "--n", "many"], "--n is not a number; got 'many'."),
        (["1", "2", "--q", "0.3", "--method", "mean"], "; got 'mean'"),
        (["1", "2", "--q", "0.3", "--method", "bea"], "--method bea requires --n"),
        (["1", "2", "--q", "0.3", "--quite", "low"], "--quite"),
    ],
)
def test_bad_input_ends_with_2_and_one_clear_message(
    run: Any, words: list[str], message: str
) -> None:
    done = run("estimate", *words)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert "Traceback" not in done.err


def test_messages_are_as_wide_as_the_terminal(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("estimate", *COUNTS, "--q", "1.3")
    unbroken = run(*words).err
    assert unbroken.count("\n") == 1
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    lines = run(*words).err.splitlines()
    assert max(map(len, lines)) <= 40 < len(unbroken)
    assert " ".join(lines) == unbroken.rstrip("\n")


def test_demo_and_version_and_help(run: Any) -> None:
    out = run("demo").out
    assert "Hotel A" in out
    assert out.count("Average of respondents         3.80") == 2
    assert max(len(line) for line in out.splitlines()) <= 88
    hotels = json.loads(run("demo", "--json").out)
    assert hotels["Hotel B"]["estimates"][0]["method"] == "average"
    assert run("--version").out == f"unheard, version {uh.__version__}\n"
    assert "Start with: unheard demo" in run("--help").out
    assert run().code == 0


@pytest.mark.parametrize("command", ["estimate", "demo", "completion", "regret", "minimax"])
def test_help_has_an_example(run: Any, command: str) -> None:
    assert re.search(rf"Examples?.*:\n +.*unheard {command}", run(command, "--help").out)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(run: Any, shell: str) -> None:
    out = run("completion", shell).out
    assert "_UNHEARD_COMPLETE" in out


@pytest.mark.parametrize(("command", "examples"), [("estimate", 3), ("regret", 4), ("minimax", 3)])
def test_examples_in_the_help_work_as_printed(run: Any, command: str, examples: int) -> None:
    lines = re.findall(r"^ +unheard (.+)$", run(command, "--help").out, flags=re.MULTILINE)
    assert len(lines) == examples
    for line in lines:
        assert run(*line.split()).code == 0


def test_regret_json_is_the_contract(run: Any) -> None:
    found = json.loads(run("regret", *shlex.split("--n 6 --m 3 --q 0.5 --method bea --json")).out)
    keys = ["method", "kind", "n", "m", "q", "regret", "p", "g", "lower_bound"]
    assert list(found)[:9] == keys
    assert found["regret"] == pytest.approx(4 * float(uh.regret_lower_bound(6, 0.5)))
    assert "exact sum over 84 histograms" in found["how"]
    several = run(
        "regret",
        *shlex.split("--n 4 --m 2 --q 0.2:0.8:0.3 --method paa,average --json"),
    )
    assert [(row["method"], row["q"]) for row in json.loads(several.out)] == [
        (method, q) for method in ("paa", "average") for q in (0.2, 0.5, 0.8)
    ]
    simulated = run(
        "regret",
        *[
            "--n",
            "900",
            "--m",
            "5",
            "--q",
            "0.5",
            "--method",
            "paa",
            "--draws",
            "2000",
            "--seed",
            "3",
            "--json",
        ],
    )
    row = json.loads(simulated.out)
    assert row["how"] == "simulation, 2,000 draws"
    assert row["standard_error"] > 0


def test_minimax_json_is_the_contract(run: Any) -> None:
    found = json.loads(run("minimax", *shlex.split("--n 10 --q 0.9 --m 5 --table --json")).out)
    assert list(found)[:8] == ["n", "m", "q", "kind", "lower", "upper", "bea", "average"]
    assert found["lower"] == pytest.approx(16 * 0.002545, rel=1e-3)
    assert found["lower"] <= found["upper"] < found["bea"] < found["average"]
    assert found["table"][0][0] == pytest.approx(3)
    assert [len(row) for row in found["table"]] == list(range(11, 0, -1))
    assert found["ratings"] == [1, 5]
    assert all(len(one["p"]) == len(one["g"]) == 2 for one in found["support"])


def test_the_game_tells_the_story(run: Any) -> None:
    out = run("regret", *shlex.split("--n 10 --m 3 --q 0.5 --method bea")).out
    assert "BEA attains the lower bound: it is optimal here." in out
    out = run("minimax", *shlex.split("--n 10 --q 0.5 --table --scale 1,2,4")).out
    assert "BEA is optimal here" in out
    # The shares and probabilities are those of the two ends of the scale.
    assert "those of the ratings 1 and 4" in out
    assert re.search(r"^    0 +2\.50 ", out, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("regret --n 100 --m 5 --q 0.5 --method bea", "96,560,646 histograms"),
        (
            "regret --n 0 --q 0.5 --method bea",
            "--n must be a whole number, 1 or more, or inf; got 0.",
        ),
        (
            "regret --n 2.5 --q 0.5 --method bea",
            "--n must be a whole number, 1 or more, or inf; got 2.5.",
        ),
        ("regret --n 5 --q 0 --method bea", "--q must be in (0, 1]; got 0"),
        ("regret --n 5 --q 0.5 --method best", "got 'best'"),
        (
            "regret --n 5 --q 0.5 --method bea --kind most",
            "--kind must be one of gap, excess; got 'most'.",
        ),
        (
            "regret --n 5 --q 0.5 --method bea --m 3 --scale 1:3",
            "--m and --scale cannot be combined.",
        ),
        ("regret --n 5 --m 2 --q 0.5 --method bea --p 0.5,0.5", "--p and --g require each other."),
        ("regret --n 5 --m 2 --q 0.5 --method bea --p 0.5,0.6 --g 1,1", "add up to 1"),
        (
            "regret --n 5 --m 3 --q 0.5 --method bea --p 0.5,0.5 --g 1,1",
            "the scale; got 2",
        ),
        ("regret --n inf --m 3 --q 0.5 --method bea --draws 100", "--n must be finite"),
        ("minimax --n 500 --q 0.5", "--n must be from 1 to 200 for --kind gap; got 500"),
        ("minimax --n 5 --q 2", "--q must be in (0, 1]; got 2"),
        ("minimax --n 5 --q 0.5 --kind excess --m 3", "two ratings"),
    ],
)
def test_bad_games(run: Any, words: str, message: str) -> None:
    done = run(*words.split())
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_failure_of_ours_ends_with_1(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("unheard.cli.estimate.build_question", broken)
    done = run("estimate", "1", "2", "--q", "0.3")
    assert done.code == 1
    assert "Please report" in done.err


def test_interrupted_ends_with_130(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("unheard.cli.estimate.build_question", interrupted)
    assert run("estimate", "1", "2", "--q", "0.3").code == 130


def test_a_plain_terminal_gets_plain_characters() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "unheard", "estimate", "1", "2", "9", "--q", "0.3"],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"###" in done.stdout
    done.stdout.decode("ascii")
