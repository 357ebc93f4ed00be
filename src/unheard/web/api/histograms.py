"""Questions about counts, answered: each a document, and a picture of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from unheard.analysis.assumption_file import check_scale, read_participation_document
from unheard.errors import OptionError
from unheard.model.parsing import parse_options
from unheard.model.question import Question, build_question
from unheard.model.scale import Scale
from unheard.present.estimates import estimate_document
from unheard.web.api.forms import (
    CalibrateQuestion,
    CompareQuestion,
    EstimateQuestion,
    MinimaxQuestion,
    PlanQuestion,
    RegretQuestion,
    SweepQuestion,
)
from unheard.web.api.read_requests import read_question
from unheard.web.server.pool import WorkerAnswer

if TYPE_CHECKING:
    from unheard.analysis.calibrate import Audit
    from unheard.analysis.compare import Comparison
    from unheard.analysis.sweep import Sweep
    from unheard.charts.picture import Picture

Given = dict[str, Any]


def as_json(document: Any) -> WorkerAnswer:
    """Send a document; what JSON has no number for is null."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(document), ensure_ascii=False, allow_nan=False)
    return WorkerAnswer(200, "application/json", text.encode("utf-8", "backslashreplace"))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def send_picture(picture: Picture, how: Given) -> WorkerAnswer:
    """Send a picture, or the specification that a browser draws it from."""
    values = parse_options("chart", "rest", how)
    format, theme, width = values["format"], values["theme"], values["width"]
    if format == "svg":
        return WorkerAnswer(200, "image/svg+xml", picture.svg(theme, width).encode())
    if format == "png":
        return WorkerAnswer(200, "image/png", picture.png(theme, width=width))
    return as_json(picture.spec(theme, width))


def estimate(given: Given) -> WorkerAnswer:
    """Answer about one histogram."""
    question, methods = _read_estimate(given)
    return as_json(estimate_document(question, question.answer(methods)))


def estimate_chart(given: Given, how: Given) -> WorkerAnswer:
    """Draw the answer about one histogram."""
    from unheard.charts.draw import draw_estimate

    question, methods = _read_estimate(given)
    return send_picture(draw_estimate(question, question.answer(methods)), how)


def _read_estimate(given: Given) -> tuple[Question, list[str]]:
    method = given.pop("method", None)
    question = build_question(**build_arguments(given))
    chosen = method or question.default_method()
    return question, list(question.methods()) if chosen == "all" else [chosen]


def quick_estimate(body: bytes) -> WorkerAnswer | None:
    """Answer about one histogram if that takes so little time that it needs no worker."""
    given = read_question(EstimateQuestion, body)
    solved = given.get("method") in ("minimax", "all") and given.get("n") is not None
    return estimate(given) if len(given["counts"]) <= 101 and not solved else None


def build_arguments(given: Given) -> Given:
    """Turn what was asked into arguments of :func:`unheard.build_question`."""
    arguments = {name: value for name, value in given.items() if value is not None}
    if "assumption" in arguments:
        assumption, scale = read_participation_document(arguments["assumption"])
        check_scale(_read_scale(given.get("scale")), scale)
        arguments |= {"assumption": assumption, "scale": scale}
    return arguments


def _read_scale(given: str | list[float] | None) -> Scale | None:
    if given is None:
        return None
    return Scale.parse(given) if isinstance(given, str) else Scale(given)


def _sweep_counts(given: Given) -> Sweep:
    from unheard.analysis.sweep import sweep

    return sweep(**build_arguments(given))


def sweep(given: Given) -> WorkerAnswer:
    """Answer about one histogram for many q."""
    given.pop("at", None)
    return as_json(_sweep_counts(given).to_dict())


def sweep_chart(given: Given, how: Given) -> WorkerAnswer:
    """Draw the answers for many q."""
    from unheard.charts.draw import draw_sweep

    at = given.pop("at", None)
    return send_picture(draw_sweep(_sweep_counts(given), at), how)


def _compare_items(given: Given) -> Comparison:
    from unheard.analysis.compare import compare

    first, second = given.pop("names")
    a, b = given.pop("a"), given.pop("b")
    return compare(a, b, **build_arguments(given), names=(first, second))


def compare(given: Given) -> WorkerAnswer:
    """Answer about two histograms."""
    return as_json(_compare_items(given).to_dict())


def compare_chart(given: Given, how: Given) -> WorkerAnswer:
    """Draw two histograms against each other."""
    from unheard.charts.draw import draw_comparison

    return send_picture(draw_comparison(_compare_items(given)), how)


def _regrets(given: Given) -> list[dict[str, Any]]:
    from unheard.game.regret_table import (
        Regrets,
        RegretTable,
        check_methods,
        check_people,
        check_ratios,
        choose_scale,
    )
    from unheard.game.structures import Structure
    from unheard.present.regrets import list_documents

    values = choose_scale(given["m"], _read_scale(given["scale"]), 5)
    n = check_people(math.inf if given["n"] is None else given["n"], "null")
    methods, qs = given["method"], given["q"]
    table = RegretTable(n, values, given["kind"], given["quiet"])
    methods = check_methods([methods] if isinstance(methods, str) else methods)
    qs = check_ratios(qs if isinstance(qs, list) else [qs])
    if given["p"] is not None or given["g"] is not None:
        if given["p"] is None or given["g"] is None:
            raise OptionError(
                "p", problem="{p} and {g} require each other", hint="Give both, or none"
            )
        structure = Structure(given["p"], given["g"])
        rows = table.evaluate_structure(methods, qs, structure, given["draws"], given["seed"])
    elif given["draws"] is not None:
        rows = table.simulate(methods, qs, given["draws"], given["seed"])
    else:
        rows = table.find_worst(methods, qs)
    return list_documents(Regrets(tuple(rows), values))


def regret(given: Given) -> WorkerAnswer:
    """Answer how wrong methods can be."""
    found = _regrets(given)
    return as_json(found[0] if len(found) == 1 else found)


def regret_chart(given: Given, how: Given) -> WorkerAnswer:
    """Draw how wrong methods can be."""
    from unheard.charts.draw import draw_regret

    return send_picture(draw_regret(_regrets(given)), how)


def minimax(given: Given) -> WorkerAnswer:
    """Answer how small the worst case of an aggregator can be."""
    from unheard.game.minimax import solve_minimax
    from unheard.game.regret_table import choose_scale
    from unheard.present.regrets import write_document

    scale = choose_scale(given["m"], _read_scale(given["scale"]), 2)
    game = solve_minimax(given["n"], given["q"], scale, given["kind"])
    return as_json(write_document(game, table=given["table"]))


def plan(given: Given) -> WorkerAnswer:
    """Answer how many non-respondents to ask."""
    from unheard.analysis.plan import plan_follow_up

    counts, n = given.pop("counts"), given.pop("n")
    return as_json(plan_follow_up(counts, n, **build_arguments(given)).to_dict())


def _find_participation(given: Given) -> Audit:
    from unheard.analysis.calibrate import calibrate as find_participation

    return find_participation(**given)


def calibrate(given: Given) -> WorkerAnswer:
    """Answer who takes part, from the counts of an audit."""
    return as_json(_find_participation(given).to_dict())


def calibrate_chart(given: Given, how: Given) -> WorkerAnswer:
    """Draw who takes part."""
    from unheard.charts.draw import draw_calibration

    return send_picture(draw_calibration(_find_participation(given)), how)


def _about(form: type[BaseModel], task: Callable[..., WorkerAnswer]) -> Callable[..., WorkerAnswer]:
    def answer(body: bytes = b"", **how: Any) -> WorkerAnswer:
        return task(read_question(form, body), **how)

    return answer


_FORMS: dict[type[BaseModel], tuple[Callable[..., WorkerAnswer], ...]] = {
    EstimateQuestion: (estimate, estimate_chart),
    SweepQuestion: (sweep, sweep_chart),
    CompareQuestion: (compare, compare_chart),
    RegretQuestion: (regret, regret_chart),
    MinimaxQuestion: (minimax,),
    PlanQuestion: (plan,),
    CalibrateQuestion: (calibrate, calibrate_chart),
}
QUESTIONS = {task.__name__: _about(form, task) for form, tasks in _FORMS.items() for task in tasks}
"""The tasks of this module by name; each reads the body of a request."""
