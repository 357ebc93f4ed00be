"""The search for the worst case, compared with a plain multi-start search."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.progress import track
from scipy.optimize import minimize
from scipy.special import gammaln, xlogy

from benchmarks.timing import report, seconds
from unheard.formulas.operations import Floats
from unheard.game.adversary import find_worst_case, find_worst_cases
from unheard.game.minimax import Minimax, solve_minimax
from unheard.game.outcomes import list_outcomes
from unheard.game.rules import evaluate_rule
from unheard.model.scale import Scale

N, M, Q = 20, 5, 0.5
STARTS = 12


class PlainSearch:
    """The straightforward search: the formula of the regret, SLSQP and random starts."""

    def __init__(self, answers: Floats) -> None:
        table = list_outcomes(N, M)
        self.seen, self.unseen, self.answers = table.seen, table.unseen, answers
        self.values = np.arange(1.0, M + 1)

    def regret(self, x: Floats) -> float:
        p, g = x[:M], x[M:]
        missing = float(p @ (1 - g))
        log_p = gammaln(N + 1) - gammaln(self.seen + 1).sum(axis=1) - gammaln(self.unseen + 1)
        log_p = log_p + xlogy(self.seen, p * g).sum(axis=1) + xlogy(self.unseen, missing)
        hidden = p * (1 - g) / max(missing, 1e-300)
        mean = float(hidden @ self.values)
        spread = float(hidden @ self.values**2) - mean**2
        error = self.answers - (self.seen @ self.values + self.unseen * mean) / N
        return float(np.exp(log_p) @ (error**2 + self.unseen * spread / N**2))

    def downhill(self, x: Floats) -> float:
        return -self.regret(x)

    def run(self, rng: np.random.Generator) -> float:
        best = 0.0
        for _ in track(range(STARTS), description="plain search", transient=True):
            start = np.concatenate([rng.dirichlet(np.full(M, 0.3)), rng.uniform(Q, 1, M)])
            constraint: Any = {"type": "eq", "fun": lambda x: x[:M].sum() - 1}
            found = minimize(
                self.downhill,
                start.tolist(),
                method="SLSQP",
                bounds=[(0, 1)] * M + [(Q, 1)] * M,
                constraints=[constraint],
                options={"ftol": 1e-12, "maxiter": 200},
            )
            best = max(best, self.regret(np.asarray(found.x)))
        return best


def run() -> None:
    scale = Scale.points(M)
    answers = evaluate_rule("paa", list_outcomes(N, M).seen, N, Q, scale)
    goal = "goal: at most 0.02"
    values: list[float] = []
    theirs = seconds(
        lambda: values.append(PlainSearch(answers).run(np.random.default_rng(1))), repeats=1
    )
    ours = seconds(lambda: values.append(find_worst_case("paa", N, Q, scale).regret), repeats=3)
    report(f"worst case of paa, n={N}, m={M}", ours, "the plain search", theirs, goal)
    print(f"  found {values[-1]:.10f}, the plain search with {STARTS} starts {values[0]:.10f}")
    warm = seconds(lambda: find_worst_case("paa", N, Q, scale, screened=0), repeats=3)
    report("  from known structures alone", warm, "the plain search", theirs, goal)

    qs = (np.arange(1, 100) / 100).tolist()

    def sweep() -> None:
        found = {
            rule: list(track(find_worst_cases(rule, N, qs, scale), rule, total=99, transient=True))
            for rule in ("average", "bea", "paa")
        }
        pairs = zip(found["average"], found["bea"], strict=True)
        worse = [a.q for a, b in pairs if b.regret > a.regret * (1 + 1e-9)]
        print(f"  the average beats BEA at {len(worse)} of 99 values of q")

    whole = seconds(sweep, repeats=1)
    print(f"  99 values of q for average, bea and paa: {whole:.0f} s")
    for n in (10, 20, 50, 100, 200):
        _bracket(n)


def _bracket(n: int) -> None:
    games: list[Minimax] = []
    slowest = max(
        seconds(lambda q=q: games.append(solve_minimax(n, q)), 1)  # type: ignore[misc]
        for q in (0.05, 0.3, 0.6, 0.8, 0.9, 0.95, 0.99)
    )
    widest = max(game.gap for game in games)
    print(f"  minimax, n={n}: bracket within {widest:.1e}, {slowest:.2f} s at most")
