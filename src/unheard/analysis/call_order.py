"""Which items to call first, and how far a number of calls goes.

The item that needs the fewest calls comes first. Whatever the number of calls, no other order then
takes more items to the goal: in any choice of items, replacing the one that needs most calls by one
that needs fewer costs no call. Of items that need equally many, the one with the widest confidence
interval comes first, since calls to it remove the most uncertainty.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unheard.formulas.operations import Floats


def order_calls(ask: Floats, widths: Floats) -> NDArray[np.intp]:
    """Return the items to call, first the one to call first.

    Parameters
    ----------
    ask
        Number of people to ask; 0 if none is needed, NaN if asking everybody is not enough.
    widths
        Widths of the confidence intervals now.

    Examples
    --------
    >>> order_calls(np.array([7.0, 3.0, 0.0, np.nan, 3.0]), np.array([1.0, 1.0, 0.2, 1.0, 2.0]))
    array([4, 1, 0])
    """
    items = np.flatnonzero(ask > 0)
    return items[np.lexsort((-widths[items], ask[items]))]


def allocate_calls(budget: int, ask: Floats, order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the number of calls to each item, as many as it needs or none.

    Examples
    --------
    >>> allocate_calls(9, np.array([7.0, 3.0, 0.0, np.nan, 3.0]), np.array([4, 1, 0]))
    array([0, 3, 0, 0, 3])
    """
    calls = np.zeros(len(ask), np.int64)
    taken = order[np.cumsum(ask[order]) <= budget]
    calls[taken] = ask[taken]
    return calls
