"""Strata of known size combined into one population."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import unheard as uh
from unheard.formulas.evaluate import Answer, Items
from unheard.formulas.operations import NUMPY
from unheard.formulas.strata import combine_strata, stratum_term_names, stratum_terms
from unheard.model.question import build_setting

VALUES = np.arange(1.0, 6.0)


def together(cells: Any, sizes: Any, people: bool = False, **stated: Any) -> Answer:
    """Put strata together; ``cells`` has the axes draw, stratum and rating."""
    draws, parts, m = cells.shape
    covers = "people" if people else "mean"
    question = uh.build_question(
        cells.reshape(-1, m), n=np.tile(sizes, draws), covers=covers, **stated
    )
    bounds = question.find_bounds()
    lower, upper = bounds.lower, bounds.upper
    assumption = question.assumption
    q = None if assumption.q is None else float(assumption.q)
    setting = build_setting(question.counts.scale, assumption, 0.95, covers)
    items = Items(list(question.counts.cells.T.astype(float)), q, question.counts.n)
    answer = Answer((lower + upper) / 2, lower, upper)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = stratum_terms(items, setting, answer, NUMPY)
        assert list(terms) == stratum_term_names(setting)
        sums = {
            name: np.broadcast_to(term, lower.shape).reshape(draws, parts).sum(axis=1)
            for name, term in terms.items()
        }
        counts = list(cells.sum(axis=1).T.astype(float))
        return combine_strata(sums, counts, setting, q, NUMPY)


def test_interval_is_everything_that_the_strata_allow() -> None:
    counts = np.array([[3, 1, 0, 6, 9], [10, 2, 2, 0, 1]])
    n, q = np.array([60.0, 40.0]), 0.2
    found = together(counts[None], n, floor=q)
    # Unseen people of each rating and stratum, as a linear program over both strata at once.
    people = np.tile(VALUES, 2)
    seen = counts.reshape(-1)
    each = np.kron(np.eye(2), np.ones(5))
    for sign, end in ((1, found.lower), (-1, found.upper)):
        best = linprog(
            sign * people,
            A_eq=each,
            b_eq=n - counts.sum(axis=1),
            bounds=[(0, c * (1 / q - 1)) for c in seen],
        )
        assert float(end[0]) == pytest.approx(
            (people @ seen + sign * float(best.fun or 0)) / n.sum(), rel=1e-9
        )


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize(
    "stated",
    [{"floor": 0.2}, {"q": 0.2}, {"q": 0.4, "quiet": "low"}, {"g": [0.2, 0.3, 0.5, 0.4, 1]}],
)
def test_one_stratum_is_nearly_itself(stated: dict[str, Any], people: bool) -> None:
    """Two limits may share the miss probability, and that of one item is found more exactly."""
    counts = np.array([30, 10, 5, 60, 90])
    n = 700.0 if "g" in stated else 400.0
    got = uh.estimate(counts, **stated, n=n, covers="people" if people else "mean")
    found = together(counts[None, None], np.array([n]), people, **stated)
    assert float(found.lower[0]) == pytest.approx(got.lower, rel=1e-12)
    assert float(found.upper[0]) == pytest.approx(got.upper, rel=1e-12)
    width = float((found.ci_upper - found.ci_lower)[0])
    if not people:
        assert 0.9 <= width / (got.ci_upper - got.ci_lower) <= 1.25
    else:
        assert 0.9 <= width / (got.ci_upper - got.ci_lower) <= 2


def test_everybody_heard_leaves_sampling_error_alone() -> None:
    counts = np.array([[300, 100, 50, 600, 900], [900, 300, 50, 200, 100]])
    n = counts.sum(axis=1)
    for stated in ("q", "floor"):
        assumption: dict[str, Any] = {stated: 0.3}
        found = together(counts[None], n.astype(float), **assumption)
        shares = counts / n[:, None]
        variance = shares @ VALUES**2 - (shares @ VALUES) ** 2
        plain = 1.96 * np.sqrt((n * variance).sum()) / n.sum()
        assert float((found.ci_upper - found.ci_lower)[0]) <= 1.7 * 2 * plain


ALIKE = {
    # strata, people in each, expected number with the rare rating; what adding distances as squares
    # covered with n known, q = 0.5, and those with the rare rating all heard
    "5 of 100 (0.79)": (5, 100, 5.0),
    "10 of 100 (0.53)": (10, 100, 5.0),
    "30 of 10 (0.24)": (30, 10, 1.5),
    "100 of 10 (0.0015)": (100, 10, 2.0),
}


def covered(found: Answer, truth: float) -> float:
    return float(((found.ci_lower <= truth + 1e-9) & (found.ci_upper >= truth - 1e-9)).mean())


@pytest.mark.parametrize("stated", ["floor", "q"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", ALIKE)
def test_many_strata_that_are_alike(name: str, turned: bool, stated: str) -> None:
    parts, n, rare = ALIKE[name]
    p, g = np.array([1 - rare / n, rare / n]), np.array([0.5, 1.0])
    if turned:
        p, g = p[::-1], g[::-1]
    rng = np.random.default_rng(parts)
    cells = rng.binomial(rng.multinomial(n, p, size=(1500, parts)), g)
    assumption: dict[str, Any] = {stated: 0.5}
    found = together(cells, np.full(parts, float(n)), **assumption, scale=[0, 1])
    # 1500 draws: a level of 0.95 gives less than 0.932 once in a thousand times.
    assert covered(found, p[1]) >= 0.932


@pytest.mark.parametrize(("parts", "n"), [(2, 10), (5, 100), (100, 10), (100, 100)])
@pytest.mark.parametrize("rare", [0.1, 0.5, 2.0])
def test_a_rare_rating_in_many_strata(parts: int, n: int, rare: float) -> None:
    """Everybody responds equally often; 0.887 was covered with 100 strata."""
    p = np.array([rare / n, 1 - rare / n])
    rng = np.random.default_rng(parts + n)
    cells = rng.multinomial(n, p, size=(1500, parts))
    found = together(cells, np.full(parts, float(n)), q=1.0, scale=[0, 1])
    assert covered(found, p[1]) >= 0.932


@pytest.mark.parametrize("stated", [{"floor": 0.4}, {"q": 0.4}, {"q": 0.4, "quiet": "low"}])
@pytest.mark.parametrize("people", [False, True])
def test_strata_that_are_unlike(stated: dict[str, Any], people: bool) -> None:
    """The worst case for the lower end: low ratings all quiet, high ones all heard."""
    rng = np.random.default_rng(5)
    sizes = np.array([300, 150, 80])
    p = np.array([[0.3, 0.1, 0.1, 0.2, 0.3], [0.5, 0, 0, 0, 0.5], [0.1, 0.1, 0.2, 0.3, 0.3]])
    g = np.where(VALUES <= 3, 0.4, 1.0)
    held = np.stack(
        [rng.multinomial(k, row, size=1500) for k, row in zip(sizes, p, strict=True)], 1
    )
    found = together(rng.binomial(held, g), sizes.astype(float), people, **stated)
    truth: Any = (held @ VALUES).sum(axis=1) / sizes.sum()
    if not people:
        truth = float(sizes @ (p @ VALUES) / sizes.sum())
    assert covered(found, truth) >= 0.932
