"""How many non-respondents to ask, so that an interval is narrow enough or a claim is settled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unheard.analysis.call_order import allocate_calls, order_calls
from unheard.analysis.dominance import Progress
from unheard.analysis.follow_up import (
    Respondents,
    build_question_with_n,
    count_people_at_bounds,
    require_one_histogram,
)
from unheard.analysis.plan_goal import Goal, find_trustworthy
from unheard.analysis.plan_search import Outlook, items_per_block, search
from unheard.errors import ColumnError, CountsError, Given, OptionError
from unheard.formulas.operations import Floats
from unheard.model.arguments import QuestionOptions
from unheard.model.histograms import CountsLike
from unheard.model.question import Question
from unheard.model.results import Estimate, Estimates, Result
from unheard.options.unknown import check_options


@dataclass(frozen=True)
class Scenario:
    """A possible distribution of the non-respondents, and how many of them to ask if it holds.

    Attributes
    ----------
    name
        ``worst``, ``lower``, ``estimate``, ``upper`` or ``given``.
    nonrespondents
        Share of the non-respondents with each rating.
    nonrespondent_mean, mean
        Mean of the non-respondents, and of everybody.
    shows
        Which side of the threshold the mean is on in this scenario, ``above`` or ``below``, and
        thus what the responses will show; None if it is at the threshold, or there is no claim.
    ask
        Number of people to ask; 0 if none is needed, None if asking everybody is not enough.
    """

    name: str
    nonrespondents: tuple[float, ...]
    nonrespondent_mean: float
    mean: float
    shows: str | None
    ask: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """How many non-respondents to ask.

    Attributes
    ----------
    goal, target
        ``width``, ``above`` or ``below``, and its value.
    power
        Probability that the responses settle the claim; None for a width.
    n_nonrespondents
        Number of non-respondents.
    now
        The estimate from the assumption alone, before the follow-up.
    scenarios
        Possible distributions of the non-respondents, with how many to ask; empty if there are no
        non-respondents.
    question
        The counts, the assumption and the settings.
    """

    goal: str
    target: float
    power: float | None
    n_nonrespondents: int
    now: Estimate
    scenarios: tuple[Scenario, ...]
    question: Question

    @property
    def words(self) -> str:
        """The assumption in words."""
        return self.question.words


@dataclass(frozen=True, eq=False, repr=False)
class Plans(Result):
    """How many non-respondents of each item to ask, and which items to call first.

    Arrays have one entry per item, in the order in which the items were given. ``plans[2]`` is the
    :class:`Plan` for one of them.

    Attributes
    ----------
    goal, target, power
        As in :class:`Plan`, the same for all items.
    n_nonrespondents
        Number of non-respondents.
    now
        The estimates from the assumption alone, before the follow-up.
    ask
        Number of people to ask: in the worst case for a width, if the non-respondents rate as
        estimated for a claim, or under your own guess. 0 if the goal is reached already, NaN if
        asking everybody is not enough.
    order
        The items to call, first the one that reaches the goal with the fewest calls.
    budget, calls
        Number of calls available, and how many of them each item gets; None if it is not limited.
    labels
        Columns that name the items.
    question
        The counts, the assumption and the settings.
    """

    goal: str
    target: float
    power: float | None
    n_nonrespondents: NDArray[np.int64]
    now: Estimates
    ask: Floats
    order: NDArray[np.intp]
    budget: int | None
    calls: NDArray[np.int64] | None
    labels: Mapping[str, Sequence[object]]
    question: Question
    _outlooks: Mapping[str, Outlook]

    @property
    def words(self) -> str:
        """The assumption in words."""
        return self.question.words

    @property
    def status(self) -> NDArray[np.str_]:
        """Whether each item has ``reached`` the goal, or it is ``reachable`` or ``unreachable``."""
        called = np.where(self.ask > 0, "reachable", "reached")
        return np.where(np.isnan(self.ask), "unreachable", called)

    @property
    def asks(self) -> dict[str, Floats]:
        """Number of people to ask in each scenario, as in ``ask``."""
        return {name: one.ask for name, one in self._outlooks.items()}

    @property
    def shows(self) -> NDArray[np.object_]:
        """Which side of the threshold the responses will show, as in :class:`Scenario`."""
        sides = self._outlooks[_find_main(self._outlooks, self.power)].sides
        return np.asarray(_SIDES[sides.astype(int)])

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.ask)

    def __iter__(self) -> Iterator[Plan]:
        """Yield the plan for each item."""
        return (self[row] for row in range(len(self)))

    def __getitem__(self, row: int) -> Plan:
        """Return the plan for one item."""
        row = range(len(self))[row]
        question = self.question.take_row(row)
        scenarios: list[Scenario] = []
        if self.n_nonrespondents[row]:
            respondents = Respondents.of(question)
            scenarios = [
                _pick_scenario(name, one, row, respondents) for name, one in self._outlooks.items()
            ]
        return Plan(
            goal=self.goal,
            target=self.target,
            power=self.power,
            n_nonrespondents=int(self.n_nonrespondents[row]),
            now=self.now.pick(row, question),
            scenarios=tuple(scenarios),
            question=question,
        )


def plan_follow_up(
    counts: CountsLike,
    n: int,
    *,
    width: float | None = None,
    above: float | None = None,
    below: float | None = None,
    power: float = 0.8,
    nonrespondents: ArrayLike | None = None,
    **options: Unpack[QuestionOptions],
) -> Plan:
    """Find how many non-respondents to ask, if all of those asked then respond.

    Parameters
    ----------
    counts, n
        Counts per rating, lowest first, and the number of people, non-respondents included.
    width
        Goal: a confidence interval no wider than this. There are two scenarios: the worst possible
        distribution of the non-respondents, and the one behind the estimate.
    above, below
        Goal: settle the claim that the mean is above (below) this threshold, with the whole
        confidence interval on one side of it. There are three scenarios: the non-respondents put
        the mean at the lower bound, at the middle of the bounds, and at the upper bound (they are
        all at an end of the scale if the response rate refutes the assumption). Where the claim is
        false, its opposite is to be settled.
    power
        Probability with which the responses settle the claim, at least 0.5.
    nonrespondents
        Your own guess instead of these scenarios: the number or the share of the non-respondents
        with each rating.
    **options
        ``q``, ``floor``, ``quiet``, ``participation``, ``g``, ``assumption``, ``scale``, ``level``
        and ``covers``, as in :func:`unheard.estimate`.

    Examples
    --------
    >>> plan = plan_follow_up([120, 30, 45, 200, 605], 2400, q=0.3, width=0.4)
    >>> [(one.name, one.ask) for one in plan.scenarios]
    [('worst', 149), ('estimate', 101)]
    >>> plan = plan_follow_up([120, 30, 45, 200, 605], 2400, q=0.3, above=3.9)
    >>> [(f"{one.mean:.2f}", one.shows, one.ask) for one in plan.scenarios]
    [('3.35', 'below', 28), ('4.00', 'above', 827), ('4.64', 'above', 10)]
    """
    check_options(plan_follow_up, options, QuestionOptions)
    question = require_one_histogram(build_question_with_n(counts, n, **options))
    goal = Goal.read(question.counts.scale, width, above, below, power)
    return make_plans(question, goal, nonrespondents)[0]


def make_plans(
    question: Question,
    goal: Goal,
    nonrespondents: ArrayLike | None = None,
    labels: Mapping[str, Sequence[object]] | None = None,
    budget: int | None = None,
    progress: Progress | None = None,
) -> Plans:
    """Plan for every histogram of a question; see :func:`unheard.plan_table`."""
    counts = question.counts
    guess = None if nonrespondents is None else _read_guess(nonrespondents, counts.scale.m)
    named = {"item": range(counts.rows)} if labels is None else labels
    _check_labels(named, counts.rows)
    check_budget(budget)
    now = question.answer_rows([question.middle_method()])[0]
    reached = goal.find_reached(now)
    outlooks = _find_outlooks(question, now, goal, guess, reached, progress)
    ask = outlooks[_find_main(outlooks, goal.power)].ask
    order = order_calls(ask, now.ci_upper - now.ci_lower)
    assert counts.n is not None  # build_question_with_n requires it
    return Plans(
        goal=goal.name,
        target=goal.target,
        power=goal.power,
        n_nonrespondents=(counts.n - counts.n_ratings).astype(np.int64),
        now=now,
        ask=ask,
        order=order,
        budget=budget,
        calls=None if budget is None else allocate_calls(budget, ask, order),
        labels=named,
        question=question,
        _outlooks=outlooks,
    )


def _find_outlooks(
    question: Question,
    now: Estimates,
    goal: Goal,
    guess: Floats | None,
    reached: NDArray[np.bool_],
    progress: Progress | None,
) -> dict[str, Outlook]:
    """Search every scenario, block by block; an item that everybody rated needs no search."""
    respondents = Respondents.of(question)
    guesses = _list_guesses(question, respondents, find_trustworthy(now))
    if guess is not None:
        guesses = {"given": np.broadcast_to(guess, respondents.counts.shape)}
    settled = np.zeros(len(reached)) if goal.power is None else goal.find_settled_sides(now)
    found = _start_outlooks(guesses, goal, reached, settled)
    items, size = np.flatnonzero(respondents.n_nonrespondents > 0), items_per_block(goal)
    for start in range(0, len(items), size):
        block = items[start : start + size]
        own = {name: shares[block] for name, shares in guesses.items()}
        searched = search(respondents.take(block), own, goal, reached[block], settled[block])
        for name, one in searched.items():
            whole = found[name]
            whole.shares[block], whole.sides[block], whole.ask[block] = (
                one.shares,
                one.sides,
                one.ask,
            )
        if progress is not None:
            progress(min(start + size, len(items)) / len(items))
    return found


def _start_outlooks(
    guesses: Mapping[str, Floats], goal: Goal, reached: NDArray[np.bool_], settled: Floats
) -> dict[str, Outlook]:
    """Return the scenarios of items without non-respondents, to be filled in for the others."""
    shape = next(iter(guesses.values())).shape
    names = [*guesses]
    if goal.power is None:
        names = ["worst", "given" if "given" in guesses else "estimate"]
    return {
        name: Outlook(np.zeros(shape), settled.copy(), np.where(reached, 0.0, np.nan))
        for name in names
    }


def _list_guesses(
    question: Question, respondents: Respondents, trustworthy: NDArray[np.bool_]
) -> dict[str, Floats]:
    """Return possible shares of the non-respondents per rating, at the bounds and between them."""
    low, high = (
        np.maximum(end - respondents.counts, 0.0) for end in count_people_at_bounds(question)
    )
    found = {"lower": low, "estimate": (low + high) / 2, "upper": high}
    ends = np.eye(low.shape[1])
    for name, end in (("lower", ends[0]), ("upper", ends[-1])):
        found[name] = np.where(trustworthy[:, None], found[name], end)
    # Without non-respondents there are no shares, and none are used.
    return {
        name: people / np.maximum(people.sum(axis=1, keepdims=True), 1e-300)
        for name, people in found.items()
    }


def _pick_scenario(name: str, outlook: Outlook, row: int, respondents: Respondents) -> Scenario:
    shares, ask = outlook.shares[row], outlook.ask[row]
    nonrespondent_mean = float(shares @ respondents.values)
    return Scenario(
        name,
        tuple(shares.tolist()),
        nonrespondent_mean,
        float(respondents.compute_mean(nonrespondent_mean)[0]),
        _SIDES[int(outlook.sides[row])],
        None if np.isnan(ask) else int(ask),
    )


_SIDES = np.array([None, "above", "below"], object)
"""Names of the sides; -1 is the last."""


def _find_main(outlooks: Mapping[str, Outlook], power: float | None) -> str:
    """Return the scenario that calls are planned by: a guess, or the worst case of a width."""
    return "given" if "given" in outlooks else "worst" if power is None else "estimate"


PLAN_COLUMNS = (
    "priority", "n_ratings", "n", "n_nonrespondents", "estimate", "ci_lower",
    "ci_upper", "status", "ask", "ask_worst", "ask_lower", "ask_estimate", "ask_upper",
    "ask_given", "shows", "calls", "notes",
)  # fmt: skip
"""The columns of a table of plans, besides those that name the items."""


def _check_labels(labels: Mapping[str, Sequence[object]], rows: int) -> None:
    for name, column in labels.items():
        if len(column) != rows:
            raise CountsError(
                "labels",
                problem="{argument} must have one name for each of the {rows} items in {column}",
                value=Given(f"{len(column)} names"),
                rows=rows,
                column=repr(name),
            )
    check_names(labels, "labels")


def check_names(names: Iterable[str], argument: str) -> None:
    """Raise if a column that names the items would stand twice in the result."""
    for name in names:
        if name.lower() in PLAN_COLUMNS:
            raise ColumnError(
                argument,
                problem="A column of the result has the name of this column",
                value=name,
                hint="Rename the column",
            )


def check_budget(budget: int | None) -> None:
    """Raise unless a budget is a number of calls, or there is none."""
    if budget is not None and not (budget >= 0 and float(budget).is_integer()):
        raise OptionError(
            "budget",
            problem="{argument} must be a whole number of calls, 0 or more",
            value=budget,
            hint="Use a number of calls",
            examples=(100,),
        )


def _read_guess(nonrespondents: ArrayLike, m: int) -> Floats:
    """Check a guess at the ratings of the non-respondents, and return it as shares."""
    try:
        people = np.array(nonrespondents, dtype=np.float64)
    except (TypeError, ValueError):
        people = np.array([])
    if people.shape != (m,) or not (np.isfinite(people) & (people >= 0)).all() or not people.any():
        raise CountsError(
            "nonrespondents",
            problem="{argument} must be one number for each of the {m} ratings, none of them "
            "negative and not all of them 0",
            value=nonrespondents,
            hint="Give how many non-respondents, or which share of them, have each rating",
            m=m,
        )
    return np.asarray(people / people.sum())
