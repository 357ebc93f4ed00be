"""``minimax`` as a method of :func:`unheard.estimate`."""

from __future__ import annotations

import numpy as np

from unheard.formulas.estimators import Situation
from unheard.formulas.operations import Column
from unheard.model.scale import Scale


def answer_by_minimax(given: Situation) -> Column:
    """Return the estimate with the smallest worst-case regret, solving one game per n and floor."""
    # The solver loads optimisers, which would slow down the import of the package.
    from unheard.game.minimax import solve_minimax

    seen = np.column_stack(given.counts)
    n, floor = (np.broadcast_to(np.asarray(x), len(seen)) for x in (given.n, given.floor))
    answers = np.full(len(seen), np.nan)
    for people, least in {*zip(n.tolist(), floor.tolist(), strict=True)}:
        if least > 0:  # otherwise there are no ratings, and the answer is replaced
            rows = (n == people) & (floor == least)
            game = solve_minimax(int(people), least, Scale(given.values), tolerance=1e-3)
            answers[rows] = game.answer(seen[rows])
    return answers
