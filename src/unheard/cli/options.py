"""From the declared options to the command line, and back to values."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeAlias

import click

from unheard.errors import CountsError, InputError
from unheard.model.parsing import parse_number, parse_options
from unheard.options.option import Option
from unheard.options.questions import options_of
from unheard.options.surfaces import CommandLine
from unheard.text import printable

Values: TypeAlias = dict[str, Any]
"""Values of options by name."""

Callback: TypeAlias = Callable[..., None]


class RefusedInput(click.ClickException):
    """An input error, in the words of the command line."""

    exit_code = 2

    def __init__(self, error: InputError, question: str) -> None:
        super().__init__(printable(error.render(CommandLine(question))))


def takes_options(question: str) -> Callable[[Callback], Callback]:
    """Give a command the options of a question, read from their texts, as its one argument.

    Arguments that are not options reach the command as they are.
    """
    options = options_of(question, "command")

    def decorate(command: Callback) -> Callback:
        @wraps(command)
        def run(**given: Any) -> None:
            try:
                values = _read_assumption(parse_options(question, "command", given))
                command(values, **{name: given[name] for name in given if name not in options})
            except InputError as error:
                raise RefusedInput(error, question) from error

        declared: Callback = run
        for option in reversed(options.values()):
            declared = _declare(option, CommandLine(question))(declared)
        return declared

    return decorate


def _declare(option: Option, surface: CommandLine) -> Callable[[Callback], Callback]:
    names = [f"-{option.short}", option.flag] if option.short else [option.flag]
    words: Values = {"help": option.write_help(surface), "required": option.required}
    if option.kind == "flag":
        if option.off or option.default is True:
            names[-1] += f"/--{option.off or 'no-' + option.flag[2:]}"
        words |= {"default": option.default, "is_flag": True}
    else:
        words |= {"metavar": option.metavar or "|".join(option.choices)}
        words |= {"multiple": option.kind == "columns"}
        # A default of None would count as given, and what is required would not be.
        if option.default is not None:
            words |= {"default": str(option.default), "show_default": True}
    if option.choices:
        words["shell_complete"] = _complete(option.choices)
    return click.option(*names, option.name, **words)


def _complete(choices: Iterable[str]) -> Callable[[Any, Any, str], list[str]]:
    """Complete a choice in the shell."""
    return lambda _context, _option, typed: [one for one in choices if one.startswith(typed)]


def _read_assumption(values: Values) -> Values:
    """Read the file with estimated participation, which brings its scale along."""
    file = values.get("assumption")
    if file is None:
        return values
    from unheard.analysis.assumption_file import check_scale, read_assumption_and_scale

    assumption, scale = read_assumption_and_scale(file)
    check_scale(values.get("scale"), scale)
    return values | {"assumption": assumption, "scale": scale}


def pick(values: Values, names: Iterable[str]) -> Values:
    """Return the values of some options, those that the command has."""
    return {name: values[name] for name in names if name in values}


def names_table(words: tuple[str, ...]) -> bool:
    """Tell whether words name a table: a single one that does not begin with a number."""
    if len(words) != 1:
        return False
    try:
        float(words[0].split(",")[0])
    except ValueError:
        return words[0] == "-" or not words[0].startswith("-")
    return False


def read_counts(words: tuple[str, ...]) -> list[int | float]:
    """Read counts given as words, or as one word with commas."""
    parts = words[0].split(",") if len(words) == 1 else [word.rstrip(",") for word in words]
    if not words:
        raise CountsError(
            "counts",
            problem="COUNTS is missing",
            hint="Give the number of ratings of each value, lowest first, as in: {example}",
            example=f"unheard {click.get_current_context().info_name} 120 30 45 200 605",
        )
    refuse_options(parts)
    return [_read_count(part, index) for index, part in enumerate(parts)]


def refuse_options(words: Iterable[str]) -> None:
    """Raise if one of some words is a misspelt option, which a negative count is not."""
    context = click.get_current_context()
    for word in words:
        if word.startswith("-") and not (word == "-" or word[1:2].isdigit()):
            options = [name for option in context.command.params for name in option.opts]
            near = difflib.get_close_matches(word, options)
            raise click.NoSuchOption(word, possibilities=near, ctx=context)


def _read_count(text: str, index: int) -> int | float:
    # Whole numbers stay whole, however large: a float would round them before they are checked.
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return parse_number(text, "counts", index)
    except CountsError:
        if not any(map(str.isalpha, text)):
            raise
    has_source = any(one.name == "source" for one in click.get_current_context().command.params)
    raise CountsError(
        "counts",
        problem="{argument} is not a number",
        value=text.strip(),
        index=index,
        hint="To use items of a table, add {source:FILE}"
        if has_source
        else "Give the number of ratings of each value; for a file, use unheard rate",
    )
