"""How often claims about the order of items under shared participation are wrong.

Course sections in which nearly everybody responded serve as the truth: if one participation thins
them, does any claim contradict it? And if all items are equal, so that every claim is wrong, how
often is any made? See docs/confidence.md.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from scipy.optimize import brentq

import unheard as uh
from benchmarks.sections import MISSING, SECTIONS, Sections
from benchmarks.timing import replace_table
from unheard.analysis.ranking import adjust_level_for_items, rank_intervals
from unheard.analysis.shared_pairs import SharedItems
from unheard.analysis.shared_ranking import SharedRanking, rank_shared
from unheard.analysis.shared_tests import PairTests
from unheard.formulas.operations import Floats
from unheard.model.question import Question, build_question

Histograms = NDArray[np.int64]

PAGE = Path(__file__).parents[1] / "docs" / "confidence.md"
BOOKS = SECTIONS.parents[1] / "goodbooks" / "book_histograms.csv"
QS = (0.5, 0.3, 0.1)
LEVEL = 0.95
GROUP = 1000
EXPECTED_OF = 10**12
"""Expected counts are computed for this many times the people, and rounded."""

SLACK = 1e-9
"""How far rounding may move participation beyond q."""

SHAPES = {
    "J": [0.4, 0.2, 0.5, 1.5, 3.0],
    "high": [0.1, 0.1, 0.3, 2.0, 4.0],
    "very high": [0.02, 0.02, 0.1, 0.6, 6.0],
}
MEANS = {"J": 0.75, "high": 0.85, "very high": 0.95}
PARTICIPATION = ([1, 1, 1, 1, 1], [0.3, 0.3, 1, 1, 1], [1, 0.3, 1, 0.3, 1], [1, 1, 1, 0.5, 0.5])


def run() -> None:
    rng = np.random.default_rng(14)
    if SECTIONS.exists():
        sections = Sections.read()
        _expected(sections.near_census(), rng)
        replace_table(PAGE, "thinned", _thinned(sections.near_census(10), rng))
    else:
        print(f"No sections: {MISSING}.")
    replace_table(PAGE, "equal", _equal(rng))
    if BOOKS.exists():
        replace_table(PAGE, "books", _books(rng))


# Sections thinned by shared participation.


@dataclass(frozen=True)
class Thinning:
    """A participation that an assumption allows."""

    g: Floats
    q: float
    quiet: str

    def expected(self, cells: Histograms) -> Question:
        """Build the question about the expected counts."""
        seen = np.rint(cells * self.g * EXPECTED_OF)
        return build_question(seen, self.q * (1 - SLACK), quiet=self.quiet)

    def drawn(self, cells: Histograms, rng: np.random.Generator) -> Question:
        """Build the question about random counts, in which each person responds or not."""
        return build_question(rng.binomial(cells, self.g), self.q, quiet=self.quiet, level=LEVEL)


def thinnings(q: float, rng: np.random.Generator, each: int) -> Iterator[Thinning]:
    """Yield participations of every kind with ratio q, at corners of the set and inside."""
    corners, inside = rng.choice([q, 1.0], (each, 5)), rng.uniform(q, 1, (each, 5))
    for g in (*corners, *inside):
        yield Thinning(g, q, "any")
        yield Thinning(np.sort(g), q, "low")
        yield Thinning(np.sort(g)[::-1], q, "high")
        yield Thinning(np.array([1, *g[1:4], 1]), q, "middle")


def wrong_claims(cells: Histograms, found: SharedRanking) -> int:
    """Return the number of settled pairs whose true order is different."""
    assert found.pairs is not None
    # In whole numbers, so that equal means compare equal.
    people, points = cells.sum(axis=1), cells @ np.arange(5)
    i, j = found.pairs.T
    return int((points[i] * people[j] <= points[j] * people[i]).sum())


def _expected(cells: Histograms, rng: np.random.Generator) -> None:
    """Test expected counts: no claim may be wrong."""
    groups = np.array_split(rng.permutation(len(cells)), len(cells) // GROUP)
    for q in QS:
        said = wrong = 0
        for thinning in track(list(thinnings(q, rng, 4)), f"q = {q:g}", transient=True):
            for group in groups:
                found = rank_shared(thinning.expected(cells[group]), pairs=True)
                said, wrong = said + found.settled, wrong + wrong_claims(cells[group], found)
        print(
            f"{len(cells):,} near-census sections in groups of {GROUP:,}, expected counts, "
            f"q = {q:g}: {said:,} claims, {wrong} wrong",
            flush=True,
        )


def _thinned(cells: Histograms, rng: np.random.Generator) -> str:
    """Test random counts: how often any claim is wrong, and how many are made."""
    lines = ["| items | people in each | q | runs | any claim wrong | pairs settled | Bonferroni |"]
    lines.append("|---" * 7 + "|")
    for items, runs in ((20, 160), (200, 32)):
        for times in (1, 20):
            for q in (0.5, 0.3):
                drawn = [next_ for _ in range(runs // 16) for next_ in thinnings(q, rng, 2)]
                done = [
                    _one_run(times * rng.choice(cells, items, replace=False), thinning, rng)
                    for thinning in track(drawn, f"{items} items", transient=True)
                ]
                wrong, settled, plain = np.array(done).mean(axis=0)
                people = "as enrolled" if times == 1 else f"{times} times as many"
                lines.append(
                    f"| {items} | {people} | {q:g} | {len(drawn)} | {wrong:.3f} | {settled:.1%} | "
                    f"{plain:.1%} |"
                )
    print("\n".join(lines), flush=True)
    return "\n".join(lines)


def _one_run(
    cells: Histograms, thinning: Thinning, rng: np.random.Generator
) -> tuple[bool, float, float]:
    question = thinning.drawn(cells, rng)
    found = rank_shared(question, sampling_error=True, pairs=True)
    return wrong_claims(cells, found) > 0, found.settled_share, settled_by_limits(question)


def settled_by_limits(question: Question) -> float:
    """Return the share of pairs settled by limits for all items at all weights, by Bonferroni."""
    crowd = SharedItems.of(question, unobserved=True)
    trials = PairTests.of(crowd, 1.0)
    rows = np.arange(len(crowd.items))
    level = np.array([(1 - LEVEL) / (2 * len(rows) * len(trials.above))])
    lower = trials.find_lower_limits(crowd, rows, level)[:, 0]
    upper = trials.find_upper_limits(crowd, rows, level)[:, 0]
    items = question.counts.rows
    sure = (lower[:, :, None] >= upper[:, None, :]).all(axis=0)
    return float(sure.sum() / (items * (items - 1) / 2))


# Items that are all equal.


def equal_items(
    rng: np.random.Generator, items: int, shape: list[float], g: Floats, mean: float
) -> Floats:
    """Return different shares of five ratings whose means are equal once g is corrected for."""
    places = np.linspace(0, 1, 5)

    def tilted(share: Floats) -> Floats:
        def shares(tilt: float) -> Floats:
            found = share * np.exp(tilt * (places - mean))
            return np.asarray(found / found.sum())

        def excess(tilt: float) -> float:
            people = shares(tilt) / g
            return float((people * (places - mean)).sum() / people.sum())

        return shares(brentq(excess, -300, 300))

    return np.array([tilted(share) for share in rng.dirichlet(shape, items) + 1e-7])


def false_alarms(
    rng: np.random.Generator, runs: int, items: int, ratings: tuple[int, int], shape: str, g: Floats
) -> float:
    """Share of runs in which any of so many equal items is claimed to be above another.

    g is known, as at each corner of a box at which a claim is tested: that is the worst case.
    """
    wrong = 0
    for _ in range(runs):
        shares = equal_items(rng, items, SHAPES[shape], g, MEANS[shape])
        seen = rng.multinomial(rng.integers(ratings[0], ratings[1] + 1, items), shares)
        wrong += rank_shared(build_question(seen, g=g.tolist()), sampling_error=True).settled > 0
    return wrong / runs


def _equal(rng: np.random.Generator) -> str:
    lines = ["| items | ratings each | runs of each setting | largest share | mean share |"]
    lines.append("|---" * 5 + "|")
    for items, runs in ((20, 300), (200, 60)):
        for ratings in ((5, 30), (30, 300)):
            settings = [(shape, np.array(g, float)) for shape in SHAPES for g in PARTICIPATION]
            found = [
                false_alarms(rng, runs, items, ratings, shape, g)
                for shape, g in track(settings, f"{items} equal items", transient=True)
            ]
            lines.append(
                f"| {items} | {ratings[0]} to {ratings[1]} | {runs} | {max(found):.3f} | "
                f"{np.mean(found):.4f} |"
            )
    print("\n".join(lines), flush=True)
    return "\n".join(lines)


# Books.


def _books(rng: np.random.Generator) -> str:
    with BOOKS.open(newline="") as file:
        counts = [[int(row[f"n{r}"]) for r in range(1, 6)] for row in csv.DictReader(file)]
    some = np.array(counts)[rng.choice(len(counts), 200, replace=False)]
    shares = some / some.sum(axis=1, keepdims=True)
    lines = [
        "| ratings | q | no sampling error | as above | Bonferroni | own participation |",
        "|---" * 6 + "|",
    ]
    for ratings, q in ((300, 1.0), (300, 0.3), (1000, 0.5), (1000, 0.3), (10_000, 0.3)):
        question = build_question(rng.multinomial(ratings, shares), q, level=LEVEL)
        found = [
            rank_shared(question).settled_share,
            rank_shared(question, sampling_error=True).settled_share,
            settled_by_limits(question),
            _settled_apart(question),
        ]
        lines.append(f"| {ratings:,} | {q:g} | " + " | ".join(f"{x:.3f}" for x in found) + " |")
    print("\n".join(lines), flush=True)
    return "\n".join(lines)


def _settled_apart(question: Question) -> float:
    """Return the share of pairs settled with separate participation and sampling error."""
    items = question.counts.rows
    cells, q = np.asarray(question.counts.cells), question.assumption.q
    found = uh.estimate(cells, q, level=adjust_level_for_items(LEVEL, items))
    ranked = rank_intervals(found.ci_lower, found.ci_upper)
    return float((items - ranked.worst_rank).sum() / (items * (items - 1) / 2))
