"""Participation suggested by response rates, against the moments written out and simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unheard as uh
from benchmarks.calibration import FEWEST, TRACKS, read
from tests.learning import simulate_rates

G = np.array([0.15, 0.2, 0.3, 0.42, 0.55])


def test_expected_responses_give_back_participation() -> None:
    # Log-odds on a line, and ten million people per item, so that chance hardly matters.
    rng = np.random.default_rng(1)
    g = 1 / (1 + np.exp(-(np.arange(5) * 0.5 - 2)))
    people = np.rint(1e7 * rng.dirichlet([1, 2, 3, 2, 2], size=60))
    factors = rng.uniform(0.5, 1.0, 60)
    seen = np.rint(people * g * factors[:, None])
    found = uh.suggest_participation(seen, people.sum(axis=1))
    # A common factor is part of participation; what items have of their own averages out.
    np.testing.assert_allclose(found.slope, 0.5, atol=0.15)
    exact = uh.suggest_participation(np.rint(people * g), people.sum(axis=1))
    np.testing.assert_allclose(exact.g, g, rtol=1e-3)


def test_the_moments_are_those_of_the_design() -> None:
    seen, people, _ = simulate_rates(np.random.default_rng(2), 120)
    found = uh.suggest_participation(seen, people)
    used = seen.sum(axis=1) >= 2
    w = 1 / found.g
    moments = np.zeros((used.sum(), 5))
    for row, (counts, n) in enumerate(zip(seen[used], people[used], strict=True)):
        total = counts.sum()
        for r in range(5):
            rest = n - total / (total - 1) * (w @ counts - w[r])
            moments[row, r] = counts[r] / n / total * rest
    centered = moments - moments.mean(axis=0)
    sums = moments.sum(axis=0)
    j = sums @ np.linalg.solve(centered.T @ centered, sums)
    assert found.j == pytest.approx(j, rel=0.3)  # weighed at the first step's participation
    assert found.j_p is not None
    assert found.j_p > 0.01


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_simulated_courses(spread: float) -> None:
    rng = np.random.default_rng(7)
    misses = []
    for _ in range(12):
        seen, people, everybody = simulate_rates(rng, spread=spread)
        found = uh.suggest_participation(seen, people)
        assert found.quiet == "low"
        misses.append(found.slope - np.polyfit(range(5), np.log(G / (1 - G)), 1)[0])
    assert abs(np.mean(misses)) < 0.06
    truth = everybody @ np.arange(1, 6) / people
    errors = {
        name: np.sqrt(np.mean((mean(seen / g) - truth)[seen.sum(axis=1) > 0] ** 2))
        for name, g in (("average", np.ones(5)), ("suggested", found.g))
    }
    assert errors["suggested"] < 0.85 * errors["average"]
    assert (found.dispersion > 1.5) is (spread > 0)


def mean(weighted: Any) -> Any:
    return weighted @ np.arange(1, 6) / np.maximum(weighted.sum(axis=1), 1e-9)


def test_kappa_undoes_what_items_do_for_reasons_of_their_own() -> None:
    rng = np.random.default_rng(9)
    seen, people, _ = simulate_rates(rng, 600, kappa=0.25)
    found = uh.suggest_participation(seen, people)
    by = {one.kappa: one for one in found.alternatives}
    # Taken at face value, participation is far steeper than it is.
    assert found.q < 0.2
    assert by[0.25].q == pytest.approx(0.15 / 0.55, abs=0.08)
    assert found.kappa_without_slope is not None
    assert found.kappa_without_slope > 0.25
    assert by[0.0].g == tuple(found.g)


def test_it_never_narrows_an_interval() -> None:
    seen, people, _ = simulate_rates(np.random.default_rng(3))
    found = uh.suggest_participation(seen, people)
    assumed = found.assumption
    assert (assumed.kind, float(assumed.q or 0)) == ("low", found.q_lower)
    by_hand = uh.estimate([5, 10, 20, 30, 20], found.q_lower, quiet="low", n=200)
    learned = uh.estimate([5, 10, 20, 30, 20], assumption=assumed, n=200)
    assert (learned.ci_lower, learned.ci_upper) == (by_hand.ci_lower, by_hand.ci_upper)


def test_it_is_never_called_a_guarantee(tmp_path: Any) -> None:
    seen, people, _ = simulate_rates(np.random.default_rng(3))
    found = uh.suggest_participation(seen, people)
    document = found.to_dict()
    everything = f"{found.summary()} {document} {found!r}"
    assert "guarantee" not in everything
    assert found.words.startswith("A suggestion, not a measurement.")
    assert "the suggestion is wrong, and the data cannot show it" in found.words
    assert document["source"] == "response_rates"
    uh.write_assumption(found, tmp_path / "s.json")
    assert uh.read_assumption(tmp_path / "s.json").kind == "low"


def flat(rng: np.random.Generator) -> tuple[Any, Any]:
    _, people, everybody = simulate_rates(rng)
    return rng.binomial(everybody.astype(int), 0.4), people


def test_refused_where_the_data_do_not_speak() -> None:
    rng = np.random.default_rng(5)
    seen, people, _ = simulate_rates(rng)
    with pytest.raises(uh.DataError, match=r"20 items .* too little .* 30 are required") as few:
        uh.suggest_participation(seen[:20], people[:20])
    same = np.array([rng.multinomial(40, [0.1, 0.2, 0.3, 0.3, 0.1]) for _ in range(100)])
    with pytest.raises(uh.DataError, match="differ no more than chance allows") as spread:
        uh.suggest_participation(same, rng.integers(60, 90, 100))
    with pytest.raises(uh.DataError, match="does not depend on the rating explains") as slope:
        uh.suggest_participation(*flat(rng))
    codes = [one.value.code for one in (few, spread, slope)]
    assert codes == ["too_few_items", "no_spread", "no_slope"]
    with pytest.raises(uh.CountsError, match=r"n\[1\] must be at least the number of ratings"):
        uh.suggest_participation(seen, [*people[:1], 1, *people[2:]])
    with pytest.raises(uh.CountsError, match="one number per item"):
        uh.suggest_participation(seen, 500)


@pytest.mark.skipif(not TRACKS.exists(), reason="the CM100k ratings are not beside this checkout")
def test_music_tracks_carry_the_warning() -> None:
    # Here popularity and liking go together, which the suggestion assumes they do not.
    observed, truth = read()
    n = truth.sum(axis=1)
    found = uh.suggest_participation(observed, n)
    assert found.quiet == "low"
    assert "the suggestion is wrong, and the data cannot show it" in found.words
    assert "Warning: the response rates disagree with each other" in found.words
    assert found.dispersion > 5
    assert "Warning: response rates vary 11 times as much" in found.words
    rated = observed.sum(axis=1) >= FEWEST
    values = np.arange(1, 5)
    means = truth[rated] @ values / n[rated]
    answer = uh.estimate(observed[rated], g=found.g.tolist(), method="reweight", level=None)
    error = np.sqrt(np.mean((answer.estimate - means) ** 2))
    plain = uh.estimate(observed[rated], 1.0, method="average", level=None).estimate
    assert error <= 0.33
    assert np.sqrt(np.mean((plain - means) ** 2)) == pytest.approx(0.623, abs=0.001)
