"""Calibration: does the box hold the participation that made the data?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import unheard as uh
from tests.strategies import Floats
from unheard.analysis.assumption_file import (
    build_participation_document,
    read_assumption,
    read_assumption_and_scale,
    write_assumption,
)
from unheard.analysis.calibrate import calibrate
from unheard.analysis.participation import LEAST_PARTICIPATION
from unheard.errors import AssumptionError, CountsError, InputError, OptionError, SourceError
from unheard.present.estimates import numbers_document

CASES = {
    # people audited, how they rate, participation
    "steep": (400, (0.4, 0.3, 0.2, 0.1), (0.03, 0.09, 0.2, 0.4)),
    "few": (40, (0.1, 0.2, 0.3, 0.2, 0.2), (0.3, 0.9, 0.5, 0.2, 0.7)),
    "hardly anybody low": (60, (0.01, 0.04, 0.95), (0.02, 0.5, 0.97)),
    "all alike": (150, (0.5, 0.1, 0.1, 0.3), (0.35, 0.35, 0.35, 0.35)),
    "two": (25, (0.7, 0.3), (0.08, 1.0)),
}


def within(share: float, level: float, runs: int) -> bool:
    """Whether a simulated coverage may come from a real one at the level or above."""
    return bool(share >= level - 3 * np.sqrt(level * (1 - level) / runs))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_box_holds_participation_at_every_rating_together(name: str, level: float) -> None:
    people, p, g = CASES[name]
    rng = np.random.default_rng(1)
    runs, held = 400, 0
    for _ in range(runs):
        truth = rng.multinomial(people, p)
        observed = rng.binomial(truth, g)
        if not observed.sum():
            held += 1  # nothing was found, and nothing was claimed
            continue
        audit = calibrate(observed, truth, level=level)
        held += bool(((audit.g_lower <= g) & (g <= audit.g_upper)).all())
    assert within(held / runs, level, runs)


@pytest.mark.parametrize("name", ["steep", "few", "all alike"])
def test_the_box_of_other_people_holds_ratios(name: str) -> None:
    people, p, g = CASES[name]
    rng = np.random.default_rng(2)
    seen = np.multiply(p, g) / np.dot(p, g)
    runs, held = 400, 0
    for _ in range(runs):
        truth, observed = rng.multinomial(people, p), rng.multinomial(300, seen)
        audit = calibrate(observed, truth, paired=False)
        known = truth > 0
        # Some common factor puts participation between the bounds.
        least, most = (audit.g_lower / g)[known].max(), (audit.g_upper / g)[known].min()
        held += bool(least <= most)
    assert within(held / runs, 0.95, runs)


def test_items_that_differ_widen_the_box() -> None:
    rng = np.random.default_rng(3)
    g, runs, held, plain = np.array([0.1, 0.2, 0.4]), 300, 0, 0
    for _ in range(runs):
        truth = rng.multinomial(50, [0.3, 0.3, 0.4], 30)
        # Beta-distributed with mean g: people of one item are much alike.
        observed = rng.binomial(truth, rng.beta(4 * g, 4 * (1 - g), (30, 3)))
        audit = calibrate(observed, truth)
        held += bool(((audit.g_lower <= g) & (g <= audit.g_upper)).all())
        whole = calibrate(observed.sum(axis=0), truth.sum(axis=0))
        plain += bool(((whole.g_lower <= g) & (g <= whole.g_upper)).all())
    assert within(held / runs, 0.95, runs)
    assert plain / runs < 0.8


def test_ratings_nobody_holds_or_nobody_gives_are_left_open() -> None:
    audit = calibrate([0, 5, 0, 20], [30, 20, 0, 50])
    assert audit.unknown_ratings == (3.0,)
    assert np.isnan(audit.g[2])
    assert audit.g_lower[2] == LEAST_PARTICIPATION
    assert audit.g_upper[2] == 1
    assert audit.g_lower[0] == LEAST_PARTICIPATION
    # Of 30 people none answered: 1 - (0.05/8)**(1/30), the exact upper limit.
    assert audit.g_upper[0] == pytest.approx(1 - (0.05 / 8) ** (1 / 30), rel=1e-12)
    assert "Nobody audited has the rating 3" in audit.words
    assert "Nobody with the rating 1 responded" in audit.words
    assert audit.assumption.kind == "box"
    result = uh.estimate([1, 0, 0, 30], assumption=audit.assumption)
    # One person who gave a 1 may stand for any number.
    assert result.lower == pytest.approx(1, abs=1e-6)


def test_the_direction_is_suggested_with_a_test() -> None:
    truth = np.array([300, 200, 150, 200, 150])
    for quiet, g in {
        "low": (0.1, 0.15, 0.2, 0.4, 0.6),
        "high": (0.7, 0.5, 0.4, 0.2, 0.2),
        "middle": (0.6, 0.2, 0.1, 0.2, 0.6),
        "any": (0.3, 0.3, 0.3, 0.3, 0.3),
    }.items():
        audit = calibrate(np.round(truth * g).astype(int), truth)
        assert audit.quiet == quiet
        assert audit.q == pytest.approx(min(g) / max(g), rel=0.05)
        assert audit.q_lower < audit.q


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("items", [1, 15])
def test_the_test_of_direction_keeps_its_level(paired: bool, items: int) -> None:
    rng = np.random.default_rng(4)
    runs = 400
    p_values = []
    for _ in range(runs):
        p = rng.dirichlet([3, 2, 1, 2], items)
        truth = np.array([rng.multinomial(40, row) for row in p])
        source = truth if paired else np.array([rng.multinomial(40, row) for row in p])
        audit = calibrate(rng.binomial(source, 0.4), truth, paired=paired)
        p_values.append(audit.trend_p)
    assert within(float(np.mean(np.array(p_values) >= 0.05)), 0.95, runs)


BAD: dict[str, tuple[dict[str, Any], type[InputError]]] = {
    r"observed\[2\] cannot exceed truth: 9 people with rating 3 responded, out of 4": (
        {"observed": [1, 2, 9], "truth": [5, 5, 4]},
        CountsError,
    ),
    r"observed\[1, 0\] cannot exceed truth: 6 people": (
        {"observed": [[1, 2], [6, 0]], "truth": [[5, 5], [4, 4]]},
        CountsError,
    ),
    "truth counts nobody": ({"observed": [0, 0], "truth": [0, 0]}, CountsError),
    "observed counts nobody: an audit requires respondents. State q": (
        {"observed": [0, 0], "truth": [3, 4]},
        CountsError,
    ),
    "truth must have as many items and ratings as observed; got shapes": (
        {"observed": [1, 2, 3], "truth": [3, 4]},
        CountsError,
    ),
    r"truth\[0\] must be .*; got -1": ({"observed": [0, 1], "truth": [-1, 4]}, CountsError),
    "level must be between 0 and 1; got 95": (
        {"observed": [0, 1], "truth": [2, 4], "level": 95},
        OptionError,
    ),
}


@pytest.mark.parametrize("words", BAD)
def test_audits_that_cannot_be_are_refused(words: str) -> None:
    arguments, error = BAD[words]
    with pytest.raises(error, match=words):
        calibrate(**arguments)


def test_an_audit_of_other_people_says_nothing_about_n() -> None:
    audit = calibrate([10, 30], [30, 30], paired=False)
    with pytest.raises(AssumptionError, match="Leave n out"):
        uh.estimate([5, 5], assumption=audit.assumption, n=20)


def histograms(items: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(5)
    truth = np.array([rng.multinomial(60, row) for row in rng.dirichlet([4, 3, 2, 1], items)])
    return rng.binomial(truth, [0.1, 0.2, 0.3, 0.5]).astype(float), truth.astype(float)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("items", [3, 20])
def test_an_audit_survives_its_file(tmp_path: Path, paired: bool, items: int) -> None:
    audit = calibrate(*histograms(items), paired=paired)
    file = tmp_path / "audit.json"
    write_assumption(audit, file)
    assumption, scale = read_assumption_and_scale(file)
    assert scale == audit.scale
    for n in (None, 400) if paired else (None,):
        one, two = (
            uh.estimate([3, 5, 9, 4], assumption=stated, n=n)
            for stated in (assumption, audit.assumption)
        )
        assert numbers_document(one) == numbers_document(two)
    assert one.method == ("pooled" if items == 20 else "reweight")


def test_files_that_hold_no_audit_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "audit.json"
    with pytest.raises(SourceError, match="cannot be read"):
        read_assumption(file)
    for text, words in {
        "{": "it is not JSON: ",
        "[1, 2]": "it is not a JSON object",
        '{"g": [0.1, 0.2]}': "is not the result of a calibration .'item_lower' is missing",
    }.items():
        file.write_text(text)
        with pytest.raises(SourceError, match=words):
            read_assumption(file)


def test_a_file_with_segments_needs_one_named(tmp_path: Path) -> None:
    file = tmp_path / "audit.json"
    audits = {
        name: build_participation_document(calibrate(*histograms(k)))
        for name, k in (("A", 1), ("B", 3))
    }
    file.write_text(json.dumps({"segments": audits}))
    assumption = read_assumption(f"{file}#B")
    assert list(assumption.g) == audits["B"]["g"]
    with pytest.raises(SourceError, match="has several segments"):
        read_assumption(file)
    with pytest.raises(SourceError, match="has no segment 'C'"):
        read_assumption(f"{file}#C")


@pytest.mark.parametrize(("items", "uneven"), [(2, False), (4, False), (4, True), (8, True)])
def test_the_box_allows_for_items_that_differ(items: int, uneven: bool) -> None:
    """0.71 was covered with 4 items of 100 people, 0.51 if they were of different sizes."""
    rng = np.random.default_rng(items)
    voice, spread = np.array([-1.5, -1.0, -0.5, 0.0, 0.5]), 0.6
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    truth = expit(voice[:, None] + spread * nodes) @ (weights / weights.sum())
    runs, held = 300, 0
    for _ in range(runs):
        shares = rng.dirichlet([2, 3, 4, 5, 6], size=items)
        sizes = rng.lognormal(np.log(100), 1.0 if uneven else 0.0, items).round().astype(int)
        people = np.array([rng.multinomial(k, p) for k, p in zip(sizes + 5, shares, strict=True)])
        answered = rng.binomial(people, expit(voice + spread * rng.standard_normal((items, 1))))
        found = calibrate(answered, people)
        held += bool(((found.g_lower <= truth) & (truth <= found.g_upper)).all())
    # 300 draws: a level of 0.95 gives fewer than 273 once in a thousand times.
    assert held >= 273


def test_a_rating_held_in_one_item_alone_is_open() -> None:
    found = calibrate([[5, 0, 20], [9, 4, 21]], [[20, 0, 40], [30, 8, 39]])
    assert found.g_lower[1] == pytest.approx(0, abs=1e-8)
    assert found.g_upper[1] == pytest.approx(1)


def test_one_item_says_that_it_speaks_for_itself() -> None:
    assert "not at a known level" in calibrate([5, 6, 20], [20, 20, 40]).words
    assert "not at a known level" not in calibrate([[5, 6, 20]] * 2, [[20, 20, 40]] * 2).words
