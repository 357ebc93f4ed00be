"""Plans for a table: how many non-respondents of each item to ask, and whom to call first."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Unpack

from numpy.typing import ArrayLike

from unheard.analysis.dominance import Progress
from unheard.analysis.plan import Plans, check_budget, check_names, make_plans
from unheard.analysis.plan_goal import Goal
from unheard.errors import DataError, PopulationError
from unheard.model.arguments import Columns, PlannedTableOptions, ReadingOptions, Table
from unheard.model.question import Question, require_level
from unheard.options.unknown import check_options
from unheard.tables.kept.recall import recall_options
from unheard.tables.named_items import fetch_counts
from unheard.tables.pipeline import Job, in_order, prepare, read_request
from unheard.tables.progress import Watch, WorkProgress
from unheard.tables.public_functions import warn_of
from unheard.tables.request import Request
from unheard.tables.sources.open import Where
from unheard.tables.sql.reserved_names import Q

_PEOPLE = ("n", "n_column", "n_table")


def plan_table(
    source: Table,
    item: Columns | None = None,
    rating: Columns | None = None,
    *,
    width: float | None = None,
    above: float | None = None,
    below: float | None = None,
    power: float = 0.8,
    nonrespondents: ArrayLike | None = None,
    budget: int | None = None,
    **options: Unpack[PlannedTableOptions],
) -> Plans:
    """Find how many non-respondents of each item to ask, and which items of a table to call first.

    Parameters
    ----------
    source, item, rating
        As in :func:`unheard.rate`.
    width, above, below, power, nonrespondents
        The goal of each item, as in :func:`unheard.plan_follow_up`. A guess at the ratings of the
        non-respondents is the same for all items.
    budget
        Number of calls available. Items get as many as they need, in the order of the result,
        until the next one needs more than are left.
    **options
        Further options of :func:`unheard.rate`: the counts, the assumption, and the number of
        people, which is required. The confidence interval is by default for the mean of exactly
        these people (``covers="people"``), which is known once all of them have responded.

    Returns
    -------
    Plans
        A plan for each item. The item that reaches the goal with the fewest calls comes first, and
        of equals the one with the widest confidence interval, so that any number of calls takes as
        many items as possible to the goal.

    Examples
    --------
    >>> import pyarrow as pa
    >>> courses = pa.table({
    ...     "course": ["Algebra", "Logic"], "enrolled": [60, 12], "sad": [6, 1], "happy": [15, 6],
    ... })
    >>> plans = plan_table(
    ...     courses, "course", counts=["sad", "happy"], n_column="enrolled", q=0.5, width=0.25,
    ...     budget=10)
    >>> plans.labels["course"], plans.ask.tolist(), plans.calls.tolist()
    (['Algebra', 'Logic'], [20.0, 3.0], [0, 3])
    >>> [plans.labels["course"][row] for row in plans.order]
    ['Logic', 'Algebra']
    """
    check_options(plan_table, options, PlannedTableOptions)
    reading = {name: options[name] for name in ReadingOptions.__annotations__ if name in options}  # type: ignore[literal-required]
    where = Where(**reading)
    asked = {name: value for name, value in options.items() if name not in reading}
    task = PlanTask.read(
        recall_options(source, where, {"item": item, "rating": rating, **asked}),
        {"width": width, "above": above, "below": below, "power": power},
        nonrespondents,
        budget,
    )
    plans, messages = task.run(source, where)
    warn_of(messages)
    return plans


@dataclass(frozen=True)
class PlanTask:
    """What is planned for a table, checked as far as it can be without reading the table."""

    request: Request
    goal: Goal
    nonrespondents: ArrayLike | None = None
    budget: int | None = None

    @classmethod
    def read(
        cls,
        options: Mapping[str, Any],
        goal: Mapping[str, Any],
        nonrespondents: ArrayLike | None = None,
        budget: int | None = None,
    ) -> PlanTask:
        """Read the options of a table as :func:`read_request` does, and the goal."""
        request = _read_plan_request(options)
        check_budget(budget)
        return cls(request, Goal.read(request.scale, **goal), nonrespondents, budget)

    def run(self, source: Any, where: Where, watch: Watch | None = None) -> tuple[Plans, list[str]]:
        """Plan for every item; return what was done to rows as well."""
        watch = watch or (lambda _words, _work: nullcontext())
        job = prepare(source, self.request, where, watch)
        try:
            progress = WorkProgress()
            with watch("planning", progress):
                return self.plan(job, progress.tell), job.messages
        finally:
            job.close()

    def plan(self, job: Job, progress: Progress | None = None) -> Plans:
        """Plan for every item that a job has counted."""
        question, labels = self._read_counts(job)
        return make_plans(question, self.goal, self.nonrespondents, labels, self.budget, progress)

    def _read_counts(self, job: Job) -> tuple[Question, dict[str, list[object]]]:
        """Read the counts of all items, and the columns that name them."""
        request = job.request
        people = in_order(job.people.copy(), request)
        table, _, question = fetch_counts(job.opened.engine, people, request)
        if not len(table):
            raise DataError(
                "min_ratings", problem="No item has enough ratings", hint="Lower {argument}",
                value=request.min_ratings, code="no_rows",
            )  # fmt: skip
        if request.q_column is not None:
            question = question.at(table[Q].to_numpy())
        return question, {key: table[key].to_pylist() for key in request.result_keys}


def _read_plan_request(options: Mapping[str, Any]) -> Request:
    known = any(options.get(name) is not None for name in _PEOPLE)
    if not known and options.get("nulls") != "nonresponse":
        raise PopulationError(
            "n",
            problem="A follow-up requires the number of people",
            hint="Give {n} or {n_column}, or count empty ratings with {nulls:nonresponse}",
            code="requires_n",
        )
    if options.get("bad_n") == "drop":
        raise PopulationError(
            "bad_n",
            problem="{bad_n:drop} does not apply to a plan, which requires n of every item",
            hint="Use {bad_n:raise}, or correct n",
        )
    require_level(options.get("level", 0.95))
    request = read_request(**{"covers": "people", **options}, ranks=False)
    check_names(request.item, "item")
    return replace(request, requires_n=True)
