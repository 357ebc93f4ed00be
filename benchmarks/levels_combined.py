"""Coverage of combined confidence statements, in the worst structures found.

For comparisons of two ratings all outcomes are enumerated and p is searched; the rest is simulated
from structures made to break it (rare ratings with full or no participation, similar and different
items and strata), drawn anew with ``SEED``. Each line has the least coverage of a 95% interval and
its structure. docs/confidence.md has the coverage of other methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, xlogy
from scipy.stats import binom, multinomial

import unheard as uh
from unheard.analysis.differences import SEPARATE, SHARED, DifferenceSolver
from unheard.analysis.follow_up import Respondents, summarize_full_response
from unheard.analysis.ranking import adjust_level_for_items
from unheard.formulas.confidence import critical_value
from unheard.formulas.evaluate import Answer, Items
from unheard.formulas.operations import NUMPY
from unheard.formulas.strata import combine_strata, stratum_terms
from unheard.model.question import build_setting

Floats = NDArray[np.float64]

SEED = 15
LEAST = 0.949
TINY = 1e-9


class Found(NamedTuple):
    """Coverage of one structure, its standard error, and the structure in words."""

    coverage: float
    error: float
    structure: str


def run(*names: str) -> None:
    for name in names or MEASUREMENTS:
        measure = MEASUREMENTS[name]
        worst = min(measure(), key=lambda found: found.coverage)
        verdict = "ok" if worst.coverage + 2 * worst.error >= LEAST else "BROKEN"
        error = f" ± {worst.error:.4f}" if worst.error else " exact"
        print(f"{name:34} {worst.coverage:.4f}{error:9} {verdict:6} {worst.structure}", flush=True)


def _share(inside: Any, structure: str) -> Found:
    held = float(np.mean(inside))
    return Found(held, float(np.sqrt(0.05 * 0.95 / np.size(inside))), structure)


def _inside(lower: Any, upper: Any, truth: Any) -> Any:
    return (lower <= truth + TINY) & (upper >= truth - TINY)


# Comparisons.


def separate() -> Iterator[Found]:
    """Enumerate the outcomes of two ratings, for both limits and every p of a grid."""
    share = np.concatenate([np.geomspace(1e-4, 0.1, 25), np.linspace(0.12, 0.5, 20)])
    share = np.unique(np.concatenate([[0.0, 1.0], share, 1 - share]))
    for (a, b), q in product([(3, 3), (5, 5), (3, 30), (10, 20)], [1.0, 0.3, 0.1]):
        rows = [np.column_stack([n - np.arange(n + 1), np.arange(n + 1)]) for n in (a, b)]
        lower = np.array(
            [
                [SEPARATE.find_limit(uh.build_question([x, y], q), False) for y in rows[1]]
                for x in rows[0]
            ]
        )
        chances = [np.asarray(binom.pmf(np.arange(n + 1)[:, None], n, share)) for n in (a, b)]
        least, most = (share * w / (share * w + (1 - share) / w) for w in (q**0.5, q**-0.5))
        for i, truth in enumerate(least):
            wrong = lower[:, :, None] > truth - most + TINY
            miss = np.einsum("a,abp,bp->p", chances[0][:, i], wrong, chances[1])
            j = int(miss.argmax())
            # The upper limit may miss as often, elsewhere: both are counted.
            words = f"{a} and {b} ratings, q={q:g}, shares {share[i]:.4f} and {share[j]:.4f}"
            yield Found(float(1 - 2 * miss[j]), 0.0, words)


def shared() -> Iterator[Found]:
    """Enumerate the likely outcomes of two or three ratings, at the least favourable weights."""
    known = [
        ((0.9983, 0.0017), (0.9788, 0.0212), (3, 30), 0.1, "any"),
        ((0.9983, 0.0017), (0.9788, 0.0212), (30, 30), 0.1, "any"),
        ((0.0545, 0.9455), (0.0009, 0.9991), (30, 30), 0.3, "low"),
        ((0.5, 0.5), (0.45, 0.55), (5, 5), 1.0, "any"),
        ((0.02, 0.98), (0.9, 0.1), (5, 5), 0.5, "any"),
        ((0.1, 0.1, 0.8), (0.8, 0.1, 0.1), (4, 4), 0.3, "any"),
        ((0.05, 0.9, 0.05), (0.45, 0.1, 0.45), (4, 4), 0.3, "high"),
    ]
    for a, b, sizes, q, quiet in known:
        yield from _enumerated(SHARED, np.array(a), np.array(b), sizes, q, quiet)


def _enumerated(
    way: DifferenceSolver, a: Floats, b: Floats, sizes: tuple[int, int], q: float, quiet: str
) -> Iterator[Found]:
    weights = np.array(list(product(np.geomspace(1, 1 / q, 13), repeat=len(a))))
    steps = np.diff(weights, axis=1)
    fits = {"any": steps < np.inf, "low": steps <= 0, "high": steps >= 0}[quiet].all(axis=1)
    weights, values = weights[fits], np.arange(1.0, len(a) + 1)
    differences = [weights @ (s * values) / (weights @ s) for s in (a, b)]
    truths = differences[0] - differences[1]
    held, seen = np.zeros(2), 0.0
    for (x, px), (y, py) in product(*(_likely(n, s) for n, s in zip(sizes, (a, b), strict=True))):
        if px * py < 1e-6:
            continue
        found = way.find_bounds_and_limits(uh.build_question([x, y], q, quiet=quiet))
        ends = np.array([truths.min(), truths.max()])
        held += px * py * _inside(found[2], found[3], ends)
        seen += px * py
    words = f"{sizes[0]} and {sizes[1]} ratings, q={q:g}, {quiet}, shares seen {a} and {b}"
    yield Found(float(held.min() / seen), 0.0, words)


def _likely(n: int, shares: Floats) -> list[tuple[Any, float]]:
    cells = [c for c in product(range(n + 1), repeat=len(shares)) if sum(c) == n]
    chances = multinomial.pmf(cells, n, shares)
    return [(c, p) for c, p in zip(cells, chances, strict=True) if p > 1e-6]


def _all_cells(n: int, m: int) -> Floats:
    return np.array([c for c in product(range(n + 1), repeat=m) if sum(c) == n], float)


def _chances(cells: Floats, p: Floats) -> Floats:
    ways = gammaln(cells[0].sum() + 1) - gammaln(cells + 1).sum(axis=1)
    return np.asarray(np.exp(ways + xlogy(cells, p).sum(axis=1)))


def searched() -> Iterator[Found]:
    """Enumerate the outcomes of few ratings; search p at random, then uphill, for most misses."""
    rng = np.random.default_rng(SEED)
    cases: list[tuple[DifferenceSolver, tuple[int, int], float, tuple[float, ...]]] = [
        (SEPARATE, (4, 4), 0.3, (0, 0.5, 1)), (SEPARATE, (3, 7), 0.3, (0, 0.9, 1)),
        (SEPARATE, (5, 5), 0.1, (0, 0.9, 1)), (SEPARATE, (6, 6), 1.0, (0, 0.5, 1)),
        (SHARED, (3, 5), 0.3, (0, 1)), (SHARED, (5, 5), 0.7, (0, 1)),
        (SHARED, (3, 3), 0.5, (0, 0.5, 1)),
    ]  # fmt: skip
    for way, sizes, q, scale in cases:
        first, second = (_all_cells(n, len(scale)) for n in sizes)
        lower = np.array(
            [
                [way.find_limit(uh.build_question([x, y], q, scale=scale), False) for y in second]
                for x in first
            ]
        )
        weights = np.array(list(product(np.geomspace(1, 1 / q, 9), repeat=len(scale))))
        found = _worst(way, (first, second), lower, weights, np.array(scale, float), rng)
        name = "shared" if way is SHARED else "separate"
        words = f"{name}, {sizes[0]} and {sizes[1]} ratings of {scale}, q={q:g}, {found[1]}"
        yield Found(1 - 2 * found[0], 0.0, words)


def _worst(
    way: DifferenceSolver,
    cells: tuple[Floats, Floats],
    lower: Floats,
    weights: Floats,
    values: Floats,
    rng: np.random.Generator,
) -> tuple[float, str]:
    def miss(p: Floats) -> float:
        means = [weights @ (s * values) / (weights @ s) for s in p]
        truth = (means[0] - means[1]).min()
        if way is SEPARATE:
            truth = means[0].min() - means[1].max()
        wrong = lower > truth + TINY
        return float(_chances(cells[0], p[0]) @ wrong @ _chances(cells[1], p[1]))

    best, at = -1.0, np.ones((2, len(values)))
    for step in range(4000):
        if step < 1500:
            p = rng.dirichlet(np.full(len(values), rng.choice([0.1, 0.3, 1.0])), 2) + 1e-9
        else:
            p = at * np.exp(0.3 * 0.9 ** (step / 250) * rng.standard_normal(at.shape))
        p = p / p.sum(axis=1, keepdims=True)
        if (here := miss(p)) > best:
            best, at = here, p
    return best, f"shares {at[0].round(4)} and {at[1].round(4)}"


def separate_with_n() -> Iterator[Found]:
    """Enumerate outcomes of two ratings and nonresponse, for some p and extreme participation."""
    share = np.array([0.02, 0.05, 0.1, 0.15, 0.3, 0.5, 0.7, 0.85, 0.9, 0.95, 0.98])
    for n, stated, q in ((6, "floor", 0.5), (6, "q", 0.5), (6, "floor", 0.8)):
        cells = [(a, b) for a, b in product(range(n + 1), repeat=2) if 0 < a + b <= n]
        assumption: dict[str, Any] = {stated: q}
        lower = np.array(
            [
                [
                    SEPARATE.find_limit(uh.build_question([x, y], n=(n, n), **assumption), False)
                    for y in cells
                ]
                for x in cells
            ]
        )
        participation = [(q, 1.0), (1.0, q), (q, q), (1.0, 1.0), (q / 2, 0.5), (0.5, q / 2)]
        if stated == "floor":
            participation = participation[:4]
        chances = {(p, g): _with_nonresponse(cells, n, p, g) for p in share for g in participation}
        for one, other in product(chances, repeat=2):
            wrong = lower > one[0] - other[0] + TINY
            miss = float(chances[one] @ wrong @ chances[other])
            yield Found(1 - 2 * miss, 0.0, f"{n} and {n} people, {stated}={q:g}, {one}, {other}")


def _with_nonresponse(cells: Any, n: int, p: float, g: tuple[float, float]) -> Floats:
    seen = np.array([(1 - p) * g[0], p * g[1]])
    outcomes = [(*cell, n - sum(cell)) for cell in cells]
    return np.asarray(multinomial.pmf(outcomes, n, [*seen, max(1 - seen.sum(), 0.0)]))


def shared_with_n() -> Iterator[Found]:
    rng = np.random.default_rng(SEED)
    n, q, g = (10_000, 20), 0.2, 0.2
    p = np.array([(0.748, 0.252), (0.856, 0.144)])
    inside = []
    for _ in range(400):
        rows = [rng.binomial(rng.multinomial(k, s), g) for k, s in zip(n, p, strict=True)]
        if rows[1].any():
            found = SHARED.find_bounds_and_limits(uh.build_question(rows, q, n=n))
            inside.append(_inside(found[2], found[3], p[0, 1] - p[1, 1]))
    yield _share(inside, f"n={n}, q={q}, everybody responds with probability {g}, p={p.tolist()}")


# Strata.


def together(cells: Any, sizes: Floats, **stated: Any) -> Answer:
    """Combine strata; the axes of ``cells`` are draw, stratum and rating."""
    draws, parts, m = cells.shape
    question = uh.build_question(cells.reshape(-1, m), n=np.tile(sizes, draws), **stated)
    bounds = question.find_bounds()
    lower, upper = bounds.lower, bounds.upper
    said = question.assumption
    q = None if said.q is None else float(said.q)
    setting = build_setting(question.counts.scale, said, 0.95, "mean")
    items = Items(list(question.counts.cells.T.astype(float)), q, question.counts.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        answer = Answer((lower + upper) / 2, lower, upper)
        sums = {
            name: np.broadcast_to(term, lower.shape).reshape(draws, parts).sum(axis=1)
            for name, term in stratum_terms(items, setting, answer, NUMPY).items()
        }
        counts = list(cells.sum(axis=1).T.astype(float))
        return combine_strata(sums, counts, setting, q, NUMPY)


def strata() -> Iterator[Found]:
    """Simulate similar strata with a rare rating, and strata of random shapes and sizes."""
    rng = np.random.default_rng(SEED)
    shapes = [(5, 100, 5.0), (10, 100, 5.0), (30, 10, 1.5), (100, 10, 2.0), (2, 10, 1.0)]
    shapes += [(parts, n, rare) for parts in (5, 100) for n in (10, 100) for rare in (0.1, 0.5, 3)]
    for (parts, n, rare), stated, q in product(shapes, ("floor", "q"), (1.0, 0.5, 0.2)):
        p = np.array([rare / n, 1 - rare / n])
        for turned, heard in product((False, True), repeat=2):
            g = np.array([1.0, q] if heard else [q, 1.0])
            shares, participation = (p[::-1], g[::-1]) if turned else (p, g)
            cells = rng.binomial(rng.multinomial(n, shares, size=(2000, parts)), participation)
            found = together(cells, np.full(parts, float(n)), **{stated: q}, scale=[0, 1])
            words = f"{parts} strata of {n}, {stated}={q:g}, p={shares.tolist()}, g={participation}"
            yield _share(_inside(found.ci_lower, found.ci_upper, shares[1]), words)
    for _ in range(30):
        yield _unlike_strata(rng)


def _unlike_strata(rng: np.random.Generator) -> Found:
    parts, m, q = int(rng.choice([2, 5, 20])), int(rng.choice([2, 3, 5])), rng.choice([0.2, 0.5, 1])
    stated = str(rng.choice(["floor", "q"]))
    sizes = rng.choice([10, 30, 100, 400], parts)
    p = rng.dirichlet(np.full(m, 0.4), parts)
    g = np.where(np.arange(m) < rng.integers(0, m + 1, (parts, 1)), q, 1.0)
    if rng.random() < 0.5:
        g = g[:, ::-1]
    if stated == "q":
        g = g * rng.choice([0.5, 1.0], (parts, 1))
    cells = np.stack(
        [rng.binomial(rng.multinomial(k, *row), v) for k, row, v in _rows(sizes, p, g, 2000)],
        axis=1,
    )
    values = np.arange(1.0, m + 1)
    truth = float(sizes @ (p @ values) / sizes.sum())
    found = together(cells, sizes.astype(float), **{stated: float(q)})
    words = f"{parts} strata of {sizes.tolist()}, {stated}={q:g}, m={m}, unlike"
    return _share(_inside(found.ci_lower, found.ci_upper, truth), words)


def _rows(sizes: Any, p: Floats, g: Floats, draws: int) -> Iterator[tuple[Any, Any, Any]]:
    for k, row, one in zip(sizes, p, g, strict=True):
        yield k, (row, draws), one


# Weights, audits, ranks, follow-ups.


def weights() -> Iterator[Found]:
    rng = np.random.default_rng(SEED)
    cases = [
        ((1, 1, 5), (0.01, 0.01, 0.98), (1, 10, 1)),
        ((1, 5, 5), (0.98, 0.01, 0.01), (1, 1, 10)),
        ((1, 1, 5), (0.005, 0.015, 0.98), (1, 10, 1)),
        ((1, 5, 5), (0.49, 0.02, 0.49), (1, 10, 1)),
        ((1, 3, 5), (0.3, 0.3, 0.4), (1, 4, 2)),
    ]
    for (of, shares, weigh), size, q in product(cases, (10, 100, 1000), (1.0, 0.3)):
        values, p, w = (np.array(x, float) for x in (of, shares, weigh))
        drawn = rng.multinomial(size, p, size=5000)
        sums, squares = np.zeros((2, len(drawn), 5))
        for value, weight, count in zip(values, w, drawn.T, strict=True):
            sums[:, int(value) - 1] += weight * count
            squares[:, int(value) - 1] += weight**2 * count
        found = uh.estimate(sums, q, squared_weights=squares, largest_weight=w.max())
        for quiet in (1 / q, q):
            people = p * w * np.where(values == 1, quiet, 1.0)
            truth = people @ values / people.sum()
            words = f"{size} ratings, q={q:g}, p={shares} of {of}, weights {weigh}"
            yield _share(_inside(found.ci_lower, found.ci_upper, truth), words)


def audits() -> Iterator[Found]:
    rng = np.random.default_rng(SEED)
    log_odds = np.array([-1.5, -1.0, -0.5, 0.0, 0.5])
    nodes, weigh = np.polynomial.hermite_e.hermegauss(60)
    for items, spread, uneven in product((2, 3, 4, 8, 20), (0.0, 0.6, 1.2), (0.0, 1.0)):
        truth = expit(log_odds[:, None] + spread * nodes) @ (weigh / weigh.sum())
        inside = []
        for _ in range(400):
            sizes = 5 + rng.lognormal(np.log(100), uneven, items).round().astype(int)
            shares = rng.dirichlet([2, 3, 4, 5, 6], items)
            people = np.array([rng.multinomial(k, p) for k, p in zip(sizes, shares, strict=True)])
            moved = log_odds + spread * rng.standard_normal((items, 1))
            found = uh.calibrate(rng.binomial(people, expit(moved)), people)
            inside.append(bool(_inside(found.g_lower, found.g_upper, truth).all()))
        words = f"{items} items, effects of sd {spread}, sizes by a log-normal of sd {uneven}"
        yield _share(inside, words)


def ranks() -> Iterator[Found]:
    """All items at once: if all limits hold, all ranks and all that is said of the top k do.

    Half of the items are as low as their ratings allow, the others as high, and ratings are rare.
    """
    rng = np.random.default_rng(SEED)
    for items, size, q in product((20, 200), (10, 100, 1000), (1.0, 0.3)):
        for rare in (0.5, 3.0):
            low = np.arange(items) % 2 == 0
            p = np.where(low, rare / size, 1 - rare / size)
            high = rng.binomial(size, p, size=(200, items))
            cells = np.stack([size - high, high], axis=-1).reshape(-1, 2)
            question = uh.build_question(
                cells, q, scale=[0, 1], level=adjust_level_for_items(0.95, items)
            )
            bounds = question.find_bounds()
            lower, upper = (end.reshape(-1, items) for end in (bounds.ci_lower, bounds.ci_upper))
            for heard in (q, 1 / q):
                truth = p * heard / (p * heard + 1 - p)
                inside = _inside(lower, upper, truth).all(axis=1)
                words = f"{items} items of {size} ratings, q={q:g}, {rare:g} of a rating expected"
                yield _share(inside, words)


def follow_ups() -> Iterator[Found]:
    rng = np.random.default_rng(SEED)
    cases = [
        ((0.5, 0.5), (0.1, 0.5)), ((0.1, 0.9), (0.05, 0.05)), ((0.3, 0.7), (0.2, 0.01)),
        ((0.56, 0.07, 0.37), (0.1, 0.1, 0.5)), ((0.02, 0.98), (0.9, 0.1)),
        ((0.5, 0, 0.5), (0.01, 0.5, 0.99)),
    ]  # fmt: skip
    for (p, g), n, asked, people in product(cases, (200, 10_000), (3, 10, 30), (False, True)):
        values = np.arange(1.0, len(p) + 1)
        held = rng.multinomial(n, p, size=2000)
        seen = rng.binomial(held, g)
        answers = [rng.multivariate_hypergeometric(one, asked) for one in held - seen]
        known = Respondents(seen.astype(float), values, n, critical_value(0.95), people)
        _, (low, high) = known.combine(
            summarize_full_response(np.array(answers, float), known), asked
        )
        truth = held @ values / n if people else float(np.dot(p, values))
        words = (
            f"{asked} non-respondents of {n}, {'these people' if people else 'mean'}, p={p}, g={g}"
        )
        yield _share(_inside(low, high, truth), words)


MEASUREMENTS: dict[str, Callable[[], Iterator[Found]]] = {
    "comparison, separate": separate,
    "comparison, p searched": searched,
    "comparison, separate, n known": separate_with_n,
    "comparison, shared": shared,
    "comparison, shared, n known": shared_with_n,
    "strata": strata,
    "weights that go with the rating": weights,
    "audit boxes": audits,
    "ranks and top k": ranks,
    "follow-ups": follow_ups,
}
