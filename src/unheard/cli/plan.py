"""``unheard plan``: how many non-respondents to ask, and what their responses add."""

from __future__ import annotations

import click
from click.core import ParameterSource

from unheard.analysis.follow_up import FollowUp, combine_follow_up
from unheard.analysis.plan import Plan, plan_follow_up
from unheard.cli.console import show
from unheard.cli.options import Values, names_table, pick, read_counts, takes_options
from unheard.errors import OptionError
from unheard.options import declarations as o
from unheard.options.questions import ASSUMPTION, PLANNED, SETTINGS
from unheard.present.estimates import tidy


@click.command(
    # A negative count looks like an option; read_counts tells the two apart.
    context_settings={"ignore_unknown_options": True},
)
@click.argument("words", metavar="COUNTS... | TABLE", nargs=-1)
@takes_options("plan")
def plan(values: Values, words: tuple[str, ...]) -> None:
    """Plan a follow-up of non-respondents.

    COUNTS is the number of ratings of each value, lowest first. Once the responses are in,
    --follow-up combines the two.

    TABLE is read as by unheard rate. The plan then says how many people of each item to ask and
    which items to call first: those that need the fewest calls. Its confidence intervals are for
    exactly these people; --covers mean plans for the population they come from.

    \b
    Examples:
      unheard plan 120 30 45 200 605 --n 2400 --q 0.3 --width 0.3
      unheard plan 120 30 45 200 605 --n 2400 --q 0.3 --above 4 --power 0.9
      unheard plan 120 30 45 200 605 --n 2400 --follow-up 3,1,4,6,2
      unheard plan 120 30 45 200 605 --n 2400 --follow-up 3,1,4,6,2 --asked 30 --q 0.3
      unheard plan stays.csv --item hotel --rating stars --n 100 --q 0.3 --width 1
    """
    _check_together(values)
    goal = pick(values, (*_GOALS, "power"))
    if names_table(words):
        from unheard.cli.plan_table import show_table_plan

        show_table_plan(words[0], goal, values | {"covers": values["covers"] or "people"})
    else:
        found = _plan_for_counts(words, goal, values | {"covers": values["covers"] or "mean"})
        show(found, values["json"])


def _plan_for_counts(words: tuple[str, ...], goal: Values, values: Values) -> FollowUp | Plan:
    """Plan for one histogram, or combine it with the responses in hand."""
    for one in (*PLANNED, o.OUTPUT, o.TOP):
        if values[one.name] != one.default:
            raise OptionError(
                one.name,
                problem="{argument} requires a table",
                hint="Name it instead of the counts",
            )
    seen = read_counts(words)
    shared = pick(values, ("n", *(one.name for one in (*ASSUMPTION, *SETTINGS))))
    if shared["n"] is not None:
        shared["n"] = tidy(shared["n"])
    if values["follow_up"] is not None:
        return combine_follow_up(seen, values["follow_up"], asked=values["asked"], **shared)
    return plan_follow_up(seen, nonrespondents=values["nonrespondents"], **shared | goal)


_GOALS = ("width", "above", "below")


def _check_together(values: Values) -> None:
    """Refuse options that do not go together."""
    goals = [name for name in _GOALS if values[name] is not None]
    source = click.get_current_context().get_parameter_source("power")
    has_power = source is not ParameterSource.DEFAULT
    planning = [*goals, *(["power"] if has_power else [])]
    if values["nonrespondents"] is not None:
        planning.append("nonrespondents")
    if values["follow_up"] is not None and planning:
        raise OptionError(
            planning[0],
            problem="{argument} and {follow_up} cannot be combined",
            hint="Plan before you ask; combine the responses once you have them",
        )
    if values["follow_up"] is None and values["asked"] is not None:
        raise OptionError("asked", problem="{argument} requires {follow_up}", hint="Give both")
    if values["follow_up"] is None and len(goals) != 1:
        raise OptionError(
            goals[1] if goals else "above",
            problem="Two goals are given" if goals else "A goal is missing",
            hint="Give one of {width:0.3}, {above:4} and {below:4}, or the responses in hand with "
            "{follow_up}",
        )
    if values["width"] is not None and has_power:
        raise OptionError(
            "power",
            problem="{argument} and {width} cannot be combined",
            hint="Use {argument} with {above} or {below}",
        )
