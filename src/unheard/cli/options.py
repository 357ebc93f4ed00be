"""Options that mean the same in every command."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from unheard.errors import AssumptionError, CountsError, OptionError
from unheard.formulas.boxes import QUIET
from unheard.model.parsing import number, numbers, pairs, read_q
from unheard.model.scale import Scale
from unheard.text import write_exactly

Command = TypeVar("Command", bound=Callable[..., Any])


def one_of(*values: str) -> Callable[[Any, Any, str], list[str]]:
    """Complete an option in the shell; its check, with a better message, comes later."""
    return lambda _context, _option, typed: [v for v in values if v.startswith(typed)]


_ASSUMPTION = (
    click.option(
        "--q",
        metavar="Q",
        help="Participation ratio, above 0 and at most 1: those who respond least often do so at "
        "least Q times as often as those who respond most often. Or a preset: survey (0.5: people "
        "were asked), reviews (0.3: open review sites), media (0.1: people choose what they rate).",
    ),
    click.option(
        "--floor",
        metavar="FLOOR",
        help="Instead of --q: everybody responds with a probability of at least FLOOR. Requires "
        "the number of people; a response rate below FLOOR refutes it.",
    ),
    click.option(
        "--quiet",
        metavar="|".join(QUIET),
        shell_complete=one_of(*QUIET),
        default="any",
        show_default=True,
        help="Who may respond less often: people with any rating, a low one, a high one, or one "
        "between the two ends.",
    ),
    click.option(
        "--participation",
        metavar="LO:HI,...",
        help="Instead of --q: for each rating, bounds on the probability to answer.",
    ),
    click.option(
        "--g",
        metavar="G,...",
        help="Instead of --q: for each rating, the probability to answer, if it is known.",
    ),
    click.option(
        "--assumption",
        metavar="FILE",
        help="Instead of --q: what an audit found, a file that unheard calibrate wrote.",
    ),
)


def assumption_options(command: Command) -> Command:
    """Add the options that state the assumption."""
    for option in reversed(_ASSUMPTION):
        command = option(command)
    return command


def per_rating_options(command: Command) -> Command:
    """Add the options that state the assumption, but for ``--q`` and ``--floor``."""
    for option in reversed(_ASSUMPTION[2:]):
        command = option(command)
    return command


def level_option(command: Command) -> Command:
    """Add ``--level``."""
    return click.option(
        "--level",
        metavar="LEVEL",
        default="0.95",
        show_default=True,
        help="Level of the confidence interval.",
    )(command)


def covers_option(command: Command) -> Command:
    """Add ``--covers``."""
    return click.option(
        "--covers",
        metavar="mean|people",
        shell_complete=one_of("mean", "people"),
        default="mean",
        show_default=True,
        help="What the confidence interval is for: the mean behind these people, or (where N is "
        "known) the mean of exactly these N people.",
    )(command)


def json_option(command: Command) -> Command:
    """Add ``--json``."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
    )(command)


def kind_option(words: str) -> Callable[[Command], Command]:
    """Add ``--kind``, the kind of regret, with what there is to say about it."""
    return click.option(
        "--kind",
        metavar="gap|excess",
        default="gap",
        show_default=True,
        shell_complete=one_of("gap", "excess"),
        help=words,
    )


def scale_option(command: Command) -> Command:
    """Add ``--scale``."""
    return click.option(
        "--scale",
        metavar="SCALE",
        help="The values a rating may take: 1:5, 0.5:5:0.5, or 1,2,4. By default 1, 2, ... up to "
        "the number of counts.",
    )(command)


def stated_assumption(given: dict[str, Any]) -> dict[str, Any]:
    """Turn the options that state the assumption and the scale into arguments.

    They are those of :func:`unheard.estimate`. An audit brings its scale along.
    """
    participation, g, q = given["participation"], given["g"], given["q"]
    floor = given.get("floor")
    arguments = {
        "q": None if q is None else read_q(q, "--q"),
        "floor": None if floor is None else number(floor, "--floor", AssumptionError),
        "quiet": given["quiet"],
        "participation": None if participation is None else pairs(participation, "--participation"),
        "g": None if g is None else numbers(g, "--g", AssumptionError),
        "assumption": None,
        "scale": given.get("scale"),
    }
    if given["assumption"] is not None:
        arguments |= _audited(given["assumption"], given.get("scale"))
    return arguments


def _audited(file: str, scale: str | None) -> dict[str, Any]:
    from unheard.analysis.assumption_file import read_assumption_and_scale

    assumption, audited = read_assumption_and_scale(file)
    if scale is not None and Scale.parse(scale) != audited:
        values = ", ".join(write_exactly(value) for value in audited.values)
        raise OptionError("scale", f"{scale} found, and the audit is on {values}", "Leave it out")
    return {"assumption": assumption, "scale": audited}


def read_level(text: str) -> float:
    """Read the level of the confidence interval."""
    return number(text, "--level", OptionError)


def read_counts(words: tuple[str, ...]) -> list[int | float]:
    """Read counts given as words, or as one word with commas between them."""
    parts = words[0].split(",") if len(words) == 1 else [word.rstrip(",") for word in words]
    if not words:
        raise CountsError(
            "counts",
            "none given",
            "Give how often each rating was given, lowest first, as in: unheard "
            f"{click.get_current_context().info_name} 120 30 45 200 605",
        )
    check_no_options(parts)
    return [_count(part, f"counts[{index}]") for index, part in enumerate(parts)]


def check_no_options(words: Iterable[str]) -> None:
    """Raise if one of some words is a misspelt option, which a negative count is not."""
    context = click.get_current_context()
    for word in words:
        if word.startswith("-") and not (word == "-" or word[1:2].isdigit()):
            options = [name for option in context.command.params for name in option.opts]
            near = difflib.get_close_matches(word, options)
            raise click.NoSuchOption(word, possibilities=near, ctx=context)


def _count(text: str, place: str) -> int | float:
    # Whole numbers stay whole, however large: a float would round them before they are checked.
    try:
        return int(text)
    except ValueError:
        return number(text, place, CountsError)
