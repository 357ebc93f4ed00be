"""The worst case: reference values, full grids, directions, endless people."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.strategies import Floats
from unheard.game.adversary import find_worst_case, find_worst_cases
from unheard.game.asymptotic import _search, find_asymptotic_worst_case
from unheard.game.outcomes import list_outcomes
from unheard.game.regret import ExactRegret, check_kind
from unheard.game.rules import evaluate_rule
from unheard.model.scale import Scale

BINARY = Scale.points(2)


@pytest.mark.parametrize(
    ("n", "q", "kind", "bea", "bound"),
    [
        (10, 0.9, "gap", "0.0026875", "0.0020296"),
        (10, 0.9, "excess", "0.00210", "0.0020296"),
        (20, 0.95, "gap", "0.00065057", "0.00048754"),
    ],
)
def test_reference_values(n: int, q: float, kind: str, bea: str, bound: str) -> None:
    found = find_worst_case("bea", n, q, BINARY, kind)
    assert f"{found.regret:.{len(bea) - 2}f}" == bea
    assert f"{found.lower_bound:.{len(bound) - 2}f}" == bound


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize(("n", "inside", "outside"), [(10, 0.80, 0.82), (20, 0.90, 0.92)])
def test_bea_leaves_the_lower_bound_where_it_should(
    m: int, n: int, inside: float, outside: float
) -> None:
    scale = Scale.points(m)
    below = find_worst_case("bea", n, inside, scale, screened=32)
    above = find_worst_case("bea", n, outside, scale, screened=32)
    assert below.regret == pytest.approx(below.lower_bound, rel=1e-9)
    assert above.regret > above.lower_bound * (1 + 1e-4)
    # There the worst structure is polarised and quiet throughout.
    np.testing.assert_allclose(above.structure.p, [0.5, *[0] * (m - 2), 0.5], atol=1e-4)
    assert above.structure.g[0] == pytest.approx(outside)


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("n", [10, 20])
def test_the_average_never_beats_bea(n: int, m: int) -> None:
    """At every second hundredth of q where histograms are few."""
    qs = np.arange(1, 100, 2 if n**m < 10_000 else 7) / 100
    scale = Scale.points(m)
    for average, bea in zip(
        find_worst_cases("average", n, qs, scale),
        find_worst_cases("bea", n, qs, scale),
        strict=True,
    ):
        assert bea.regret <= average.regret * (1 + 1e-9), average.q
        assert bea.regret >= bea.lower_bound * (1 - 1e-9)


def lattice_maximum(rule: str, n: int, q: float, scale: Scale, kind: str, steps: int) -> float:
    """Largest regret over a lattice of shares of the 2m types, one by one."""
    m = scale.m
    regret = ExactRegret(
        evaluate_rule(rule, list_outcomes(n, m).seen, n, q, scale), n, scale, check_kind(kind)
    )
    points = np.array(
        [x for x in product(range(steps + 1), repeat=2 * m) if sum(x) == steps], dtype=float
    )
    loud, quiet = points[:, :m] / steps, points[:, m:] / steps
    seen = loud + q * quiet
    return float(regret.value(np.column_stack([seen, loud + quiet - seen])).max())


@pytest.mark.parametrize("kind", ["gap", "excess"])
@pytest.mark.parametrize("rule", ["average", "paa", "bea", "spectral", "midpoint"])
def test_no_lattice_point_is_worse(rule: str, kind: str) -> None:
    scale = Scale((1, 2, 4))
    found = find_worst_case(rule, 5, 0.4, scale, kind)
    assert lattice_maximum(rule, 5, 0.4, scale, kind, 10) <= found.regret + 1e-12


def test_a_worst_case_between_the_ends_is_found() -> None:
    """An aggregator that answers an end whenever a middle rating is seen."""

    def hater_of_threes(seen: Floats) -> Floats:
        total = np.maximum(seen.sum(axis=1), 1)
        mean = np.where(seen.sum(axis=1) > 0, seen @ np.arange(1, 6) / total, 3)
        return np.where(seen[:, 2] > 0, 1.0, mean)

    found = find_worst_case(hater_of_threes, 6, 0.5, Scale.points(5))
    assert found.structure.p[2] > 0.05
    assert found.method == "hater_of_threes"
    assert found.regret > 4


@pytest.mark.parametrize("quiet", ["low", "high", "middle"])
def test_a_direction_binds_the_adversary(quiet: str) -> None:
    scale = Scale.points(3)
    free = find_worst_case("paa", 6, 0.4, scale)
    bound = find_worst_case("paa", 6, 0.4, scale, quiet=quiet)
    g = np.array(bound.structure.g)
    held = np.array(bound.structure.p) > 1e-9
    if quiet == "low":
        assert (np.diff(g) >= -1e-9).all()
    elif quiet == "high":
        assert (np.diff(g) <= 1e-9).all()
    else:
        assert (g[[0, -1]][held[[0, -1]]] > 1 - 1e-9).all()
    assert bound.regret <= free.regret + 1e-9
    # Low and high are mirror images, and PAA treats both ends alike.
    if quiet != "middle":
        other = find_worst_case("paa", 6, 0.4, scale, quiet="high" if quiet == "low" else "low")
        assert bound.regret == pytest.approx(other.regret, rel=1e-6)


def test_a_box_binds_the_adversary() -> None:
    box = [(0.3, 0.5), (0.6, 0.9), (0.8, 0.8)]
    found = find_worst_case("average", 6, 0.3, Scale.points(3), participation=box)
    for g, (lo, hi) in zip(found.structure.g, box, strict=True):
        assert lo - 1e-9 <= g <= hi + 1e-9


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("rule", ["paa", "average"])
def test_endless_people(rule: str, q: float) -> None:
    scale = Scale((0, 1, 3))
    formula = find_asymptotic_worst_case(rule, q, scale)
    found, structure = _search(rule, q, scale, np.random.default_rng(1))
    assert formula.closed_form
    assert found == pytest.approx(formula.regret, rel=1e-6)
    assert structure.p[1] == pytest.approx(0, abs=1e-3)
    many = find_worst_case(rule, 400, q, Scale((0, 3)))
    assert many.regret == pytest.approx(formula.regret, rel=0.1)


def test_endless_people_for_a_callable() -> None:
    def mine(seen: Floats) -> Floats:
        return np.asarray(seen @ np.array([1.0, 2.0]) / seen.sum(axis=1))

    found = find_asymptotic_worst_case(mine, 0.5, BINARY)
    assert not found.closed_form
    assert found.regret == pytest.approx(find_asymptotic_worst_case("average", 0.5, BINARY).regret)
