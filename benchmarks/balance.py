"""BEA's a*, compared with the paper's double sum on a grid, refined by a minimiser."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaln, xlogy

import unheard as uh
from benchmarks.timing import report, seconds


class DoubleSum:
    """LB(a) of [GKL25, lemma 3.2] for one n and q, with the constant terms precomputed."""

    def __init__(self, n: int, q: float) -> None:
        s, t = (x.ravel() for x in np.mgrid[: n + 1, : n + 1])
        inside = s + t <= n
        self.s, self.t = s[inside].astype(float), t[inside].astype(float)
        self.u = n - self.s - self.t
        self.n, self.q = n, q
        self.ways = gammaln(n + 1) - gammaln(self.s + 1) - gammaln(self.t + 1) - gammaln(self.u + 1)

    def __call__(self, a: float) -> float:
        log_p = self.ways + xlogy(self.s, a * self.q) + xlogy(self.t, 1 - a)
        log_p += xlogy(self.u, a * (1 - self.q))
        lam = np.log(a * self.q / (1 - a))
        return float(np.exp(log_p) @ (self.u / self.n * expit(-lam * (self.s - self.t))) ** 2)

    def maximiser(self) -> float:
        grid = np.linspace(0.001, 0.999, 999)
        best = int(np.argmax([self(a) for a in grid]))
        ends = grid[max(best - 1, 0)], grid[min(best + 1, 998)]
        return float(minimize_scalar(lambda a: -self(a), bounds=ends).x)


def run() -> None:
    n, q = 1000, 0.3
    ours = seconds(lambda: uh.bea_a_star(n, q), 20)
    answers: list[float] = []
    theirs = seconds(lambda: answers.append(DoubleSum(n, q).maximiser()), 1)
    report(f"a* at n={n:,}", ours, "the double sum on 999 points", theirs, "goal: at most 0.01")
    print(f"  a* {float(uh.bea_a_star(n, q)):.9f}, by the double sum {answers[0]:.9f}")
    far = seconds(lambda: uh.bea_a_star(10**9, q), 20)
    report("a* at n=10^9", far, "at n=1,000", ours, "goal: at most 1")
    sizes = np.arange(1, 100_001)
    many = seconds(lambda: uh.bea_lambda(sizes, q), 2)
    print(f"  all n from 1 to 100,000: {many:.2f} s")
