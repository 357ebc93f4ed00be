r"""The weights of BEA: lambda and a* for every number of people n and every q.

[GKL25, section 3] defines a* as the maximiser of a double sum over the counts s, t at the two
ends. With lambda = log(a q/(1-a)), the number u of unseen people is binomial with probability
rho = (1-q)/(1 + q exp(-lambda)), and the number seen, N = n - u, splits into s and t by a binomial
with odds exp(lambda). Adding the terms for s-t = d and -d, the inner sum becomes

    E[1/cosh(lambda d/2)] / (4 cosh(lambda/2)**N),   d a simple random walk of N steps.

Since 1/cosh is its own Fourier transform, E[1/cosh(lambda d/2)] is the integral of
sech(pi y) cos(lambda y)**N over y, and the sum over u becomes a binomial theorem:

    LB = 1/(4n) * integral of sech(pi y) [ (n-1) rho**2 A**(n-2) + rho A**(n-1) ] dy,
    A(y) = rho + (1-rho) cos(lambda y)/cosh(lambda/2).

The integrand is analytic and decays like exp(-pi |y|), so the trapezoidal rule with some 200 nodes
gives the paper's double sum to rounding error, at a cost that does not depend on n.

For large n, an expansion of the slope in lambda (moments of sech(pi y): 1, 1/4, 5/16) gives

    lambda_0 = (2r + 1)/((n-2) r + n - 1),   r = (n-1)(1-q)/(1+q),

which is 2/n, and falls to 1/n where q is so close to 1 that hardly anybody is unseen. One Newton
step on the next order leaves an error in n*lambda of about 4/n**2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.formulas.operations import Column, Floats, Operations

LARGE_N = 3000
"""From this n on the large-n form is used: n*lambda is within 4e-7, and BEA within 1e-7 of W."""

_STEP = 1 / 16
_NODES = np.arange(0, 12 + _STEP / 2, _STEP)
_WEIGHTS = _STEP * np.where(_NODES == 0, 1.0, 2.0) / np.cosh(np.pi * _NODES)


def bea_lambda(n: ArrayLike, q: ArrayLike) -> Floats:
    """Return lambda = log(a* q/(1 - a*)), elementwise.

    For one person BEA never uses it (an unseen person leaves both end counts at zero), and a* = 1
    would make it infinite, so 0 is returned.

    Parameters
    ----------
    n
        Number of people, 0 or more.
    q
        Least participation, in (0, 1].

    Examples
    --------
    >>> round(float(3000 * bea_lambda(3000, 0.3)), 4)
    2.0005
    """
    people, least = np.asarray(n, np.float64), np.asarray(q, np.float64)
    # Each pair of n and q is solved once. A complex number is a pair that NumPy can sort.
    keys = people if least.ndim == 0 else people + 1j * least
    distinct = np.unique(keys)
    q_of = np.full(distinct.shape, least) if least.ndim == 0 else np.imag(distinct).copy()
    solved = _solve_lambda(np.real(distinct).copy(), q_of)
    return np.asarray(solved[np.searchsorted(distinct, keys)])


def implied_floor(q: Column, seen: Column, n: Column, ops: Operations) -> Column:
    """Return the least participation that a participation ratio q implies, over columns.

    The greatest participation is at least the response rate, so the least is at least q times the
    response rate, ignoring sampling error.
    """
    return ops.divide(q * seen, n)


def bea_a_star(n: ArrayLike, q: ArrayLike) -> Floats:
    """Return a*, the share at the end that responds less often, in [GKL25, lemma 3.2].

    Examples
    --------
    >>> round(float(bea_a_star(20, 0.3)), 8)
    0.78715981
    """
    people, least = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(q, np.float64))
    return np.where(people <= 1, 1.0, 1 / (1 + least * np.exp(-bea_lambda(people, least))))


def regret_lower_bound(n: ArrayLike, q: ArrayLike) -> Floats:
    """Return a lower bound on the worst-case regret of any aggregator on {0, 1}.

    See [GKL25, corollary 3.3].

    Multiply by the squared width of the scale for any other scale.

    Examples
    --------
    >>> round(float(regret_lower_bound(20, 0.3)), 10)
    0.0773017607
    """
    people, least = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(q, np.float64))
    single = people <= 1
    value = regret_bound_at(np.where(single, 2.0, people), least, bea_lambda(people, least))
    # One person is unseen with probability 1 - q at a = 1; then nothing is known.
    return np.where(single, (1 - least) / 4, value)


def regret_bound_at(n: Floats, q: Floats, lam: Floats) -> Floats:
    """Return LB for a given lambda and n of at least 2, by the integral above."""
    n, q, lam = (np.asarray(x, np.float64)[..., None] for x in (n, q, lam))
    terms = _integrand_terms(q, lam)
    rho, missed = terms.rho, terms.missed
    integrand = (n - 1) * rho**2 * _power(missed, n - 2) + rho * _power(missed, n - 1)
    return np.asarray((_WEIGHTS * integrand).sum(axis=-1) / (4 * n[..., 0]))


def approximate_lambda(n: Column, q: Column) -> Column:
    """Return lambda for large n in closed form, over columns."""
    rho_0, half = (1.0 - q) / (1.0 + q), q / (1.0 + q)
    seen = 2.0 * half
    r = (n - 1.0) * rho_0
    lam = (2.0 * r + 1.0) / ((n - 2.0) * r + n - 1.0)
    rho = rho_0 * (1.0 + half * lam)
    r = (n - 1.0) * rho
    square = lam * lam
    bend = (rho / 4.0 - 0.5) * square - lam
    residual = (
        2.0 * r * (1.0 - (n - 2.0) * seen * square / 4.0)
        + (1.0 - (n - 1.0) * seen * square / 4.0)
        + (n - 2.0) * r * (bend + (n - 3.0) * seen * square * lam / 2.0)
        + (n - 1.0) * (bend + (n - 2.0) * seen * square * lam / 2.0)
    )
    return lam + residual / ((n - 2.0) * r + n - 1.0)


def _solve_lambda(n: Floats, q: Floats) -> Floats:
    lam = np.zeros(n.shape)
    pair = n == 2
    lam[pair] = _solve_lambda_of_two(q[pair])
    some = (n > 2) & (n < LARGE_N)
    if some.any():
        lam[some] = _solve_lambda_by_root(n[some], q[some])
    many = n >= LARGE_N
    lam[many] = approximate_lambda(n[many], q[many])
    return lam


def _solve_lambda_of_two(q: Floats) -> Floats:
    """For n = 2 the slope is a quadratic in exp(-lambda): (1+q) x**2 + (2-q) x - q = 0."""
    return -np.log(2 * q / (2 - q + np.sqrt((2 - q) ** 2 + 4 * q * (1 + q))))


def _solve_lambda_by_root(n: Floats, q: Floats) -> Floats:
    # Imported here because loading scipy.optimize takes longer than the rest of the package.
    from scipy.optimize import elementwise

    # The slope is positive at 0; lambda n lies between 1 and 3.3 for every n > 2 and q.
    found = elementwise.find_root(_slope, (np.zeros(n.shape), 3.6 / n), args=(n, q))
    if not np.all(found.success):
        raise ArithmeticError("BEA has no maximiser for this n and q; please report them")
    return np.asarray(found.x)


def _slope(lam: Floats, n: Floats, q: Floats) -> Floats:
    """Return the derivative of LB by lambda, up to a positive factor."""
    lam, n, q = lam[..., None], n[..., None], q[..., None]
    rho, gone, missed, turn = _integrand_terms(q, lam)
    r = (n - 1) * rho
    change = rho * gone + (1 + np.exp(lam)) * turn
    base = 1 - missed
    integrand = _power(missed, n - 3) * (
        (2 * r * base + (n - 2) * r * change) + base * (base + (n - 1) * change)
    )
    return np.asarray((_WEIGHTS * integrand).sum(axis=-1))


class _IntegrandTerms(NamedTuple):
    """rho, 1-c, 1-A and dc/dlambda, where c = cos(lambda y)/cosh(lambda/2)."""

    rho: Floats
    gone: Floats
    missed: Floats
    turn: Floats


def _integrand_terms(q: Floats, lam: Floats) -> _IntegrandTerms:
    odds = np.exp(-lam)
    rho = (1 - q) / (1 + q * odds)
    height = np.cosh(lam / 2)
    gone = 2 * (np.sinh(lam / 4) ** 2 + np.sin(lam * _NODES / 2) ** 2) / height
    turn = -(_NODES * np.sin(lam * _NODES) + np.cos(lam * _NODES) * np.tanh(lam / 2) / 2) / height
    return _IntegrandTerms(rho, gone, q * (1 + odds) / (1 + q * odds) * gone, turn)


def _power(missed: Floats, exponent: Floats) -> Floats:
    """Return (1 - missed)**exponent, exact also for tiny ``missed`` and huge exponents."""
    size = np.abs(1 - missed)
    with np.errstate(divide="ignore"):
        logs = np.where(missed < 0.5, np.log1p(-np.minimum(missed, 0.5)), np.log(size))
    # 0**0 is 1: at exponent 0 the logarithm of zero must be ignored.
    value = np.exp(np.where(exponent == 0, 0.0, exponent * logs))
    odd: NDArray[np.bool_] = (missed > 1) & (exponent % 2 == 1)
    return np.where(odd, -value, value)
