"""One declaration of every option: it appears on every surface that it names."""

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

import click
import pytest
from fastapi import FastAPI

import unheard as uh
from unheard.cli.main import cli
from unheard.errors import PYTHON
from unheard.formulas.boxes import QUIET
from unheard.formulas.estimators import ESTIMATORS
from unheard.game.minimax import solve_minimax
from unheard.model import arguments
from unheard.options import choices, declarations
from unheard.options.option import Option
from unheard.options.questions import GROUPS, QUESTIONS, options_of
from unheard.options.surfaces import REST, CommandLine
from unheard.web.api.routes import router

FUNCTIONS: dict[str, tuple[Callable[..., Any], set[str]]] = {
    "estimate": (uh.estimate, {"counts"}),
    "rate": (uh.rate, {"source"}),
    "rank": (uh.rank, {"source"}),
    "counts": (uh.count_ratings, {"source"}),
    "add_counts": (uh.add_counts, {"source"}),
    "sql": (uh.write_sql, set()),
    "sweep": (uh.sweep, {"counts"}),
    "compare": (uh.compare, {"a", "b", "names"}),
    "plan": (uh.plan_follow_up, {"counts"}),
    "plan_table": (uh.plan_table, {"source"}),
    "report": (uh.make_report, {"source", "output", "command"}),
}
"""The function of each question, and its arguments that are not options."""

BODIES = {
    "estimate": {"counts"},
    "sweep": {"counts", "at"},
    "compare": {"a", "b", "names"},
    "regret": set(),
    "minimax": set(),
    "plan": {"counts"},
}
"""The questions that are bodies in JSON, and their fields that are not options."""

QUERIES = {
    "/inspect": ("inspect",),
    "/counts": ("counts",),
    "/rate": ("rate",),
    "/rank": ("rank",),
    "/rank/chart": ("rank", "rank_chart", "chart"),
    "/report": ("report",),
    "/calibrate": ("calibrate",),
    "/calibrate/chart": ("calibrate", "chart"),
    "/plan": ("plan_table",),
    **{
        f"/{question}/chart": ("chart",)
        for question in BODIES
        if question not in ("minimax", "plan")
    },
}
"""The addresses with query parameters, and the questions that these belong to."""


def python_options(function: Callable[..., Any]) -> dict[str, Any]:
    """The keywords of a function with their defaults, those behind ``**options`` included."""
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            typed = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
            keys = getattr(arguments, typed).__annotations__
            found |= dict.fromkeys(keys, inspect.Parameter.empty)
        else:
            found[name] = parameter.default
    return found


@pytest.mark.parametrize("question", FUNCTIONS)
def test_python_takes_every_option(question: str) -> None:
    function, arguments_ = FUNCTIONS[question]
    declared, found = options_of(question, "python"), python_options(function)
    assert set(found) - arguments_ == set(declared)
    for name, option in declared.items():
        if found[name] is not inspect.Parameter.empty and not option.required:
            assert found[name] == option.default, name


@pytest.mark.parametrize("question", FUNCTIONS)
def test_docstrings_explain_every_explicit_option(question: str) -> None:
    function, _ = FUNCTIONS[question]
    doc = inspect.getdoc(function) or ""
    head = doc[doc.index("Parameters") : doc.index("Returns") if "Returns" in doc else None]
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            assert any(name in line.split(", ") for line in head.splitlines()), name


@pytest.mark.parametrize("question", [name for name in cli.commands if name != "completion"])
def test_commands_take_every_option(question: str) -> None:
    command = cli.commands[question]
    options = {one.name: one for one in command.params if isinstance(one, click.Option)}
    declared = options_of(question, "command")
    assert set(options) == set(declared)
    shown = command.get_help(click.Context(command, info_name=question, terminal_width=10_000))
    for name, option in declared.items():
        found = options[name]
        assert option.flag in found.opts
        assert found.required == option.required
        assert found.help == option.write_help(CommandLine(question))
        assert option.flag in shown
        if option.kind == "flag":
            assert found.default == option.default
        elif option.default is not None:
            assert found.default == str(option.default)


def test_help_lists_every_command_in_one_group() -> None:
    listed = [name for group in GROUPS for name in group.names]
    assert sorted(listed) == sorted(cli.commands)
    shown = cli.get_help(click.Context(cli, info_name="unheard", terminal_width=80))
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "..." not in shown.split("Estimate and rate:")[1]


def schema() -> Mapping[str, Any]:
    app = FastAPI()
    app.include_router(router, prefix="/api/v1")
    found: Mapping[str, Any] = app.openapi()["paths"]
    return found


@pytest.mark.parametrize("question", BODIES)
def test_bodies_take_every_option(question: str) -> None:
    post = schema()[f"/api/v1/{question}"]["post"]
    body = post["requestBody"]["content"]["application/json"]["schema"]
    # A question that is also asked about tables has their rows as an alternative.
    fields = body.get("anyOf", [body])[0]["properties"]
    declared = options_of(question, "rest")
    assert set(fields) - BODIES[question] == set(declared)
    for name, option in declared.items():
        if name not in ("n",) or question != "regret":  # JSON has no number for infinity
            assert fields[name]["description"] == option.write_help(REST)
        if not option.required:
            assert fields[name].get("default") == option.default


@pytest.mark.parametrize("address", QUERIES)
def test_queries_take_every_option(address: str) -> None:
    parameters = schema()[f"/api/v1{address}"]["post"]["parameters"]
    declared = [one for name in QUERIES[address] for one in options_of(name, "rest").values()]
    assert [one["name"] for one in parameters] == [one.name for one in declared]
    for found, option in zip(parameters, declared, strict=True):
        assert found["description"] == option.write_help(REST)
        assert found["schema"].get("enum", list(option.choices)) == list(option.choices)


def test_every_rest_option_is_reached() -> None:
    asked = {*BODIES, *(name for names in QUERIES.values() for name in names)}
    assert asked == {name for name in QUESTIONS if options_of(name, "rest")}


def every_option() -> list[tuple[str, Option]]:
    return [(question, one) for question, options in QUESTIONS.items() for one in options]


@pytest.mark.parametrize(("question", "option"), every_option())
def test_declarations_are_whole(question: str, option: Option) -> None:
    assert option.surfaces
    for surface in (PYTHON, REST, CommandLine(question)):
        text = option.write_help(surface)
        assert text[0].isupper()
        assert text[-1] in ".?"
        assert "{" not in text
    if option.kind == "choice":
        assert option.default is None or option.default in option.choices
    names = [one.name for one in QUESTIONS[question]]
    assert names.count(option.name) == 1


def test_choices_are_those_of_the_formulas() -> None:
    assert tuple(declarations.QUIET.choices) == QUIET
    assert set(choices.METHODS) == set(ESTIMATORS)
    closed = {name for name, one in ESTIMATORS.items() if one.closed_form}
    assert set(choices.TABLE_METHODS) == closed
    for alias, option in (
        (choices.Covers, declarations.COVERS),
        (choices.Nulls, declarations.NULLS),
        (choices.OffScale, declarations.OFF_SCALE),
        (choices.Duplicates, declarations.DUPLICATES),
        (choices.RegretKind, declarations.KIND),
        (choices.Engine, declarations.ENGINE),
    ):
        assert typing.get_args(alias) == tuple(option.choices)


def test_minimax_takes_its_options() -> None:
    found = set(python_options(solve_minimax))
    assert {name for name in options_of("minimax", "python") if name != "m"} <= found


@pytest.mark.parametrize(
    ("function", "given", "words"),
    [
        (uh.estimate, {"counts": [1, 2], "qq": 0.3}, r"estimate\(\) has no option qq"),
        (uh.estimate, {"counts": [1, 2], "q": 0.3, "levle": 0.9}, r"Did you mean level\?"),
        (uh.rate, {"source": [], "item": "a", "rating": "b", "nuls": 1}, r"Did you mean nulls\?"),
        (uh.rank, {"source": [], "item": "a", "of_scale": "drop"}, r"Did you mean off_scale\?"),
        (uh.make_report, {"source": [], "item": "a", "titel": "b"}, r"Did you mean title\?"),
        (uh.sweep, {"counts": [1, 2], "scael": 1}, r"Did you mean scale\?"),
        (uh.compare, {"a": [1, 2], "b": [2, 1], "quite": "low"}, r"Did you mean quiet\?"),
        (uh.plan_follow_up, {"counts": [1, 2], "n": 9, "widht": 1}, r"Did you mean width\?"),
        (uh.add_counts, {"source": [], "into": "a", "bach": "b"}, r"Did you mean batch\?"),
        (uh.build_question, {"counts": [1, 2], "coverz": "mean"}, r"Did you mean covers\?"),
        (uh.calibrate, {"observed": [1, 2], "pared": False}, r"Did you mean paired\?"),
        (uh.tally, {"ratings": [1, 2], "null": "drop"}, r"Did you mean nulls\?"),
        (uh.plan_table, {"source": [], "item": "a", "n_colum": "b"}, r"Did you mean n_column\?"),
    ],
)
def test_unknown_names_are_refused(
    function: Callable[..., Any], given: dict[str, Any], words: str
) -> None:
    with pytest.raises(uh.OptionError, match=words) as raised:
        function(**given)
    assert raised.value.code == "unknown_option"
