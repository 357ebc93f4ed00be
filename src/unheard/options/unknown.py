"""Names that no option has."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

from unheard.errors import InputError, OptionError

P = ParamSpec("P")
R = TypeVar("R")


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the known name nearest to another, as a question; empty if none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean {near[0]}?" if near else ""


def refuse_unknown(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise if a function was given an option that it does not have.

    Examples
    --------
    >>> refuse_unknown("sweep", ["levle"], ["level", "scale"])
    Traceback (most recent call last):
    unheard.errors.OptionError: sweep() has no option levle. Did you mean level?
    """
    names = sorted(known)
    for name in given:
        if name not in names:
            raise OptionError(
                name,
                problem="{function} has no option {argument}",
                hint="{suggestion}",
                code="unknown_option",
                function=f"{function}()",
                suggestion=suggest(name, names) or f"Its options are {', '.join(names)}",
            )


def check_options(
    function: Callable[..., object], given: Iterable[str], declared: type[object]
) -> None:
    """Raise if ``**options`` holds a name that is not one of those declared.

    Parameters
    ----------
    function
        The function that was called; the message may suggest one of its own parameters.
    given
        The names it was given as ``**options``.
    declared
        The ``TypedDict`` of these options.
    """
    names = [*declared.__annotations__]
    if set(given) <= set(names):
        return
    parameters = inspect.signature(function).parameters.values()
    own = [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]
    refuse_unknown(function.__name__, given, [*own, *names])


def suggests_names(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function with explicit parameters answer an unknown one with the nearest it has."""
    known = list(inspect.signature(function).parameters)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        refuse_unknown(function.__name__, kwargs, known)
        return function(*args, **kwargs)

    return call


def check_choice(name: str, value: object, choices: Iterable[str], error: type[InputError]) -> None:
    """Raise unless a value is one of the choices of an option."""
    known = list(choices)
    if value not in known:
        raise error(
            name,
            problem="{argument} must be one of {choices}",
            value=value,
            hint=suggest(str(value), known),
            choices=", ".join(known),
        )
