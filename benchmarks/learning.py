"""How well participation is learned without an audit; see docs/howto/learn-q.md.

Waves: simulated surveys with reminders; how often the box covers participation at all ratings, how
often bounds that use it cover the mean of another item, and how often a violated model is noticed.
Response rates: music tracks with known truth, simulated courses, and a university that changed from
paper to online evaluations.
"""

from __future__ import annotations

import csv
import gzip
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from rich.progress import track
from scipy.special import chdtri, expit, ndtr

import unheard as uh
from benchmarks.calibration import FEWEST, TRACKS, read
from benchmarks.sections import MISSING, SECTIONS
from unheard.analysis.wave_fit import fit_waves
from unheard.analysis.waves import MODEL_LEVEL, check_model
from unheard.formulas.operations import Floats

RUNS = 200
TESTS = 1000
SHARES = np.array([0.1, 0.15, 0.25, 0.3, 0.2])
LEVELS = np.array([0.0, -0.3, -0.5])
LOW = np.array([-1.2, -0.8, -0.3, 0.1, 0.5])
EFFECTS = {
    "low": LOW,
    "high": np.array([0.3, 0.0, -0.3, -0.6, -1.0]),
    "middle": np.array([0.2, -0.5, -1.0, -0.5, 0.3]),
    "nearly all": np.array([0.5, 1.0, 2.0, 3.0, 4.0]),
}
TILT = np.linspace(-1, 1, 5)
VIOLATIONS = {
    "none": (0.0, 0.0),
    "second request differs by 0.6": (0.6, 0.0),
    "third request differs by 0.6": (0.0, 0.6),
    "third request differs by 1": (0.0, 1.0),
    "drifts by 0.6 per request": (0.6, 1.2),
}
VALUES = np.arange(1.0, 6.0)
G = np.array([0.15, 0.2, 0.3, 0.42, 0.55])
PAIRED = (1.48, 1.15, 0.86, 0.74, 0.61)
"""Online over paper participation of the same instructors and courses, for ratings 1 to 5."""


def run() -> None:
    cover_by_waves()
    find_power()
    compare_tracks()
    compare_courses()
    compare_modes()


def ask(
    rng: np.random.Generator,
    people: int,
    shares: Floats,
    effects: Floats,
    waves: int,
    changes: tuple[float, ...] = (0.0, 0.0),
) -> tuple[Floats, Floats]:
    """Simulate requests: return the responses by request and rating, and everybody's ratings."""
    everybody = rng.multinomial(people, shares)
    left, rows = everybody, []
    for k in range(waves):
        change = (0.0, *changes)[k] * TILT
        rows.append(rng.binomial(left, expit(LEVELS[k] + effects + change)))
        left = left - rows[-1]
    return np.array(rows, float), everybody.astype(float)


@dataclass(frozen=True)
class _Survey:
    """A survey to be simulated: with which effects of the rating, and how unlike items are."""

    items: int
    people: int
    direction: str
    spread: float = 0.0


SURVEYS = (
    _Survey(1, 100, "low"),
    _Survey(1, 1000, "low"),
    _Survey(1, 1000, "high"),
    _Survey(1, 1000, "middle"),
    _Survey(1, 1000, "nearly all"),
    _Survey(1, 4000, "low"),
    _Survey(300, 30, "low"),
    _Survey(6, 300, "low", 0.8),
    _Survey(100, 200, "low", 0.8),
)


def cover_by_waves() -> None:
    error = np.sqrt(0.95 * 0.05 / RUNS)
    print(f"waves: coverage of 95% boxes and of bounds for another item, {RUNS} surveys each")
    print(f"(standard error of a coverage of 0.95: {error:.3f})")
    print(f"{'requests':>9}{'items':>7}{'people':>8}{'direction':>12}{'items vary':>12}{'box':>8}"
          f"{'bounds':>8}")  # fmt: skip
    for waves in (2, 3):
        for one in SURVEYS:
            rng = np.random.default_rng(waves * one.items + one.people)
            seen = [
                _cover(rng, one, waves) for _ in track(range(RUNS), one.direction, transient=True)
            ]
            box, bounds = np.mean(seen, axis=0)
            print(f"{waves:>9}{one.items:>7}{one.people:>8}{one.direction:>12}{one.spread:>12}"
                  f"{box:>8.3f}{bounds:>8.3f}", flush=True)  # fmt: skip


def _cover(rng: np.random.Generator, survey: _Survey, waves: int) -> tuple[bool, bool]:
    effects, people = EFFECTS[survey.direction], survey.people
    own = rng.normal(0, survey.spread, survey.items + 1)
    drawn = [
        ask(rng, people, SHARES if survey.items == 1 else rng.dirichlet(8 * SHARES), effects + x,
            waves)
        for x in own[1:]
    ]  # fmt: skip
    found = uh.calibrate_from_waves([rows for rows, _ in drawn], n=[people] * survey.items)
    g = _average_participation(effects, survey.spread, waves)
    box = bool(((found.g_lower <= g) & (g <= found.g_upper)).all())
    # Another item, so large that chance plays no part.
    rows, everybody = ask(rng, 10**7, rng.dirichlet(8 * SHARES), effects + own[0], waves)
    answer = uh.estimate(rows.sum(axis=0), assumption=found.assumption, level=None)
    truth = everybody @ VALUES / everybody.sum()
    return box, bool(answer.lower - 1e-3 <= truth <= answer.upper + 1e-3)


def _average_participation(effects: Floats, spread: float, waves: int) -> Floats:
    """Return the probability of ever responding, by rating, over items that vary."""
    shifts, weights = np.polynomial.hermite_e.hermegauss(80)
    odds = LEVELS[:waves, None, None] + effects + spread * shifts[:, None]
    never = np.prod(expit(-odds), axis=0)
    return np.asarray(1 - weights @ never / weights.sum())


def find_power() -> None:
    sizes = (1000, 3000, 10_000)
    print("waves: share of surveys with three requests in which the test rejects the model")
    print("(and of the most powerful test, which would have to know the change)")
    print(f"{'':32}" + "".join(f"{f'n = {n:,}':>14}" for n in sizes))
    for name, changes in VIOLATIONS.items():
        rng = np.random.default_rng(4)
        cells = []
        for n in sizes:
            share = np.mean([_rejects(rng, n, changes) for _ in range(TESTS)])
            cells.append(f"{share:.2f} ({_find_best_power(n, changes):.2f})")
        print(f"{name:32}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


def _rejects(rng: np.random.Generator, n: int, changes: tuple[float, ...]) -> bool:
    rows, _ = ask(rng, n, SHARES, LOW, 3, changes)
    fit = fit_waves(rows, n - rows.sum())
    p = check_model(fit, np.ones(len(SHARES)), VALUES)
    assert p is not None  # there are three requests
    return p < MODEL_LEVEL


def _find_best_power(n: int, changes: tuple[float, ...]) -> float:
    """Return the power of the chi-squared test in the direction of the change."""
    left, rows = n * SHARES, []
    for level, change in zip(LEVELS, (0.0, *changes), strict=True):
        rows.append(left * expit(level + LOW + change * TILT))
        left = left - rows[-1]
    misfit = fit_waves(np.array(rows), float(left.sum())).misfit
    return _exceed(float(chdtri(1, MODEL_LEVEL)), misfit)


def _exceed(x: float, misfit: float) -> float:
    """Return the upper tail of the noncentral chi-squared distribution with one degree."""
    root, shift = float(np.sqrt(x)), float(np.sqrt(misfit))
    return float(ndtr(shift - root) + ndtr(-shift - root))


def find_error(seen: Floats, means: Floats, g: Floats | None) -> float:
    """Return the root mean squared error of reweighted means; of plain ones without g."""
    values = np.arange(1.0, seen.shape[1] + 1)
    weighted = seen if g is None else seen / g
    return float(np.sqrt(np.mean((weighted @ values / weighted.sum(axis=1) - means) ** 2)))


def compare_tracks() -> None:
    if not TRACKS.exists():
        print("The CM100k ratings are not beside this checkout (../shared/data).")
        return
    observed, truth = read()
    n = truth.sum(axis=1)
    found = uh.suggest_participation(observed, n)
    true_g = observed.sum(axis=0) / truth.sum(axis=0)
    rated = observed.sum(axis=1) >= FEWEST
    means = truth[rated] @ np.arange(1.0, 5.0) / n[rated]
    print(f"response rates: music tracks with {FEWEST} ratings or more, root mean squared error")
    for words, g in (("average", None), ("suggested g", found.g), ("true g", true_g)):
        numbers = "" if g is None else "  g = " + ", ".join(f"{x:.3f}" for x in g)
        print(f"  {words:14}{find_error(observed[rated], means, g):.3f}{numbers}")
    print(f"  J test p = {found.j_p:.3f}, dispersion {found.dispersion:.1f}")


def compare_courses() -> None:
    print("response rates: 300 simulated courses, root mean squared error (mean of 40)")
    print(f"{'item effects':>26}{'average':>9}{'suggested':>11}{'true g':>8}{'J rejects':>11}"
          f"{'refused':>9}")  # fmt: skip
    for spread, rho in ((0, 0), (0.3, 0), (0.6, 0), (0.3, 0.7), (0.3, -0.7)):
        rng = np.random.default_rng(6)
        errors, rejected, refused = [], [], 0
        for _ in range(40):
            seen, people, means = _draw_courses(rng, spread, rho)
            some = seen.sum(axis=1) > 0
            try:
                found = uh.suggest_participation(seen, people)
            except uh.DataError:
                refused += 1
                continue
            errors.append([find_error(seen[some], means[some], g) for g in (None, found.g, G)])
            rejected.append((found.j_p or 1) < 0.05)
        words = f"sd {spread}, correlation {rho}"
        average, suggested, known = np.mean(errors, axis=0)
        print(f"{words:>26}{average:>9.3f}{suggested:>11.3f}{known:>8.3f}"
              f"{np.mean(rejected):>11.2f}{refused:>9}")  # fmt: skip


def _draw_courses(
    rng: np.random.Generator, spread: float, rho: float
) -> tuple[Floats, Floats, Floats]:
    quality = rng.normal(0, 1, 300)
    shapes = np.exp(-0.5 * (VALUES - 3.4 - 0.7 * quality[:, None]) ** 2) + 0.02
    shares = shapes / shapes.sum(axis=1, keepdims=True)
    people = rng.integers(15, 120, 300)
    everybody = np.array([rng.multinomial(n, p) for n, p in zip(people, shares, strict=True)])
    own = np.exp(spread * (rho * quality + np.sqrt(1 - rho**2) * rng.normal(0, 1, 300)))
    seen = rng.binomial(everybody, np.minimum(G * own[:, None], 1.0))
    return seen.astype(float), people.astype(float), everybody @ VALUES / people


@dataclass(frozen=True)
class _Term:
    year: int
    counts: tuple[int, ...]
    enrolled: int


def compare_modes() -> None:
    """Learn from paper and from online sections, and compare the two with the paired ratios."""
    if not SECTIONS.exists():
        print(MISSING)
        return
    sections = [one for one in _read_sections() if sum(one.counts) <= one.enrolled]
    learned: dict[str, uh.Suggestion] = {}
    modes: dict[str, Callable[[int], bool]] = {
        "paper (to 2012)": lambda year: year <= 2012,
        "online (from 2013)": lambda year: year >= 2013,
    }
    print(f"response rates: {len(sections):,} course sections")
    for name, belongs in modes.items():
        chosen = [one for one in sections if belongs(one.year)]
        begin = time.perf_counter()
        try:
            found = uh.suggest_participation(
                [one.counts for one in chosen], [one.enrolled for one in chosen]
            )
        except uh.DataError as error:
            print(f"  {name}: refused. {error}")
            continue
        learned[name] = found
        shown = ", ".join(f"{g:.3f}" for g in found.g)
        spent = time.perf_counter() - begin
        print(f"  {name}: g = {shown}; J p = {found.j_p:.2g}, dispersion {found.dispersion:.1f}, "
              f"{len(chosen):,} sections in {spent:.1f} s")  # fmt: skip
    if len(learned) == 2:
        paper, online = (one.g for one in learned.values())
        ratios = ", ".join(f"{ratio:.2f}" for ratio in online / paper)
        print(f"  online over paper, learned:  {ratios}")
        print(f"  online over paper, by pairs: {', '.join(f'{ratio:.2f}' for ratio in PAIRED)}")


def _read_sections() -> Iterator[_Term]:
    with gzip.open(SECTIONS, "rt", newline="") as file:
        for row in csv.DictReader(file):
            counts = tuple(int(float(row[f"overall_{r}"] or 0)) for r in range(1, 6))
            year = int("".join(c for c in row["term"] if c.isdigit())[:4])
            yield _Term(year, counts, int(float(row["enrolled"] or 0)))
