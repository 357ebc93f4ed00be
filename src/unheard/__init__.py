"""An honest rating, with an allowance for the people who did not respond.

>>> import unheard as uh
>>> result = uh.estimate([120, 30, 45, 200, 605], q=0.3)
>>> f"{result.estimate:.2f}, between {result.lower:.2f} and {result.upper:.2f}"
'4.00, between 3.35 and 4.64'
"""

from __future__ import annotations

from unheard import _interrupt as _before_all_that_takes_time  # noqa: F401

# isort: split
import importlib as _importlib
import typing as _typing

from unheard._version import __version__
from unheard.errors import (
    AssumptionError,
    ColumnError,
    CountsError,
    DataError,
    InputError,
    MethodError,
    MissingLibraryError,
    OptionError,
    PopulationError,
    QueryError,
    ScaleError,
    SourceError,
    UnheardError,
)
from unheard.later import provide as _provide

if _typing.TYPE_CHECKING:
    from unheard import charts as charts
    from unheard.analysis.assumption_file import read_assumption, write_assumption
    from unheard.analysis.breakdown import Claim, find_breakdown
    from unheard.analysis.calibrate import Audit, calibrate
    from unheard.analysis.compare import Comparison, Difference, compare
    from unheard.analysis.drift import Change, Drift, pool_windows
    from unheard.analysis.follow_up import FollowUp, combine_follow_up
    from unheard.analysis.participation import Participation
    from unheard.analysis.plan import Plan, Plans, Scenario, plan_follow_up
    from unheard.analysis.ranking import Ranking, find_top_k_breakdown, rank_intervals
    from unheard.analysis.response_rates import ResponseRates, check_response_rates
    from unheard.analysis.shared_breakdown import find_shared_breakdown, find_shared_top_k_breakdown
    from unheard.analysis.shared_ranking import SharedRanking, rank_shared
    from unheard.analysis.suggest import Alternative, Suggestion, suggest_participation
    from unheard.analysis.sweep import Sweep, sweep
    from unheard.analysis.waves import Waves, calibrate_from_waves
    from unheard.formulas.bea import bea_a_star, bea_lambda, regret_lower_bound
    from unheard.game.minimax import Minimax
    from unheard.game.regret_table import Regret, Regrets
    from unheard.model.assumption import Assumption
    from unheard.model.estimate import estimate
    from unheard.model.histograms import Histograms
    from unheard.model.notes import NOTE_TEXTS
    from unheard.model.question import Question, build_question
    from unheard.model.response_rate import Response
    from unheard.model.results import Chart, Estimate, Estimates, Result
    from unheard.model.scale import Scale
    from unheard.model.studies import PRESETS
    from unheard.model.tally import tally
    from unheard.options.choices import METHODS
    from unheard.report import make_report
    from unheard.tables import (
        AddedBatch,
        AddedCounts,
        ReadingWarning,
        TableWarning,
        add_counts,
        count_ratings,
        plan_table,
        rank,
        rate,
        write_sql,
    )

_LATER = {
    name: module
    for module, names in {
        "unheard.analysis.calibrate": ("Audit", "calibrate"),
        "unheard.analysis.breakdown": ("Claim", "find_breakdown"),
        "unheard.analysis.drift": ("Change", "Drift", "pool_windows"),
        "unheard.analysis.participation": ("Participation",),
        "unheard.analysis.suggest": ("Alternative", "Suggestion", "suggest_participation"),
        "unheard.analysis.waves": ("Waves", "calibrate_from_waves"),
        "unheard.analysis.compare": ("Comparison", "Difference", "compare"),
        "unheard.analysis.follow_up": ("FollowUp", "combine_follow_up"),
        "unheard.analysis.plan": ("Plan", "Plans", "Scenario", "plan_follow_up"),
        "unheard.analysis.ranking": ("Ranking", "rank_intervals", "find_top_k_breakdown"),
        "unheard.analysis.response_rates": ("ResponseRates", "check_response_rates"),
        "unheard.analysis.shared_breakdown": (
            "find_shared_breakdown",
            "find_shared_top_k_breakdown",
        ),
        "unheard.analysis.shared_ranking": ("SharedRanking", "rank_shared"),
        "unheard.analysis.assumption_file": ("read_assumption", "write_assumption"),
        "unheard.analysis.sweep": ("Sweep", "sweep"),
        "unheard.formulas.bea": ("bea_a_star", "bea_lambda", "regret_lower_bound"),
        "unheard.game.regret_table": ("Regret", "Regrets"),
        "unheard.game.minimax": ("Minimax",),
        "unheard.model.assumption": ("Assumption",),
        "unheard.model.estimate": ("estimate",),
        "unheard.model.histograms": ("Histograms",),
        "unheard.model.notes": ("NOTE_TEXTS",),
        "unheard.model.question": ("Question", "build_question"),
        "unheard.model.response_rate": ("Response",),
        "unheard.model.results": ("Chart", "Estimate", "Estimates", "Result"),
        "unheard.model.scale": ("Scale",),
        "unheard.model.studies": ("PRESETS",),
        "unheard.model.tally": ("tally",),
        "unheard.options.choices": ("METHODS",),
        "unheard.report": ("make_report",),
        "unheard.tables": (
            "AddedBatch",
            "AddedCounts",
            "ReadingWarning",
            "TableWarning",
            "add_counts",
            "count_ratings",
            "plan_table",
            "rank",
            "rate",
            "write_sql",
        ),
    }.items()
    for name in names
}
"""Where the public names are. They are fetched when first used, so that importing stays fast."""

__all__ = [
    "METHODS",
    "NOTE_TEXTS",
    "PRESETS",
    "AddedBatch",
    "AddedCounts",
    "Alternative",
    "Assumption",
    "AssumptionError",
    "Audit",
    "Change",
    "Chart",
    "Claim",
    "ColumnError",
    "Comparison",
    "CountsError",
    "DataError",
    "Difference",
    "Drift",
    "Estimate",
    "Estimates",
    "FollowUp",
    "Histograms",
    "InputError",
    "MethodError",
    "Minimax",
    "MissingLibraryError",
    "OptionError",
    "Participation",
    "Plan",
    "Plans",
    "PopulationError",
    "QueryError",
    "Question",
    "Ranking",
    "ReadingWarning",
    "Regret",
    "Regrets",
    "Response",
    "ResponseRates",
    "Result",
    "Scale",
    "ScaleError",
    "Scenario",
    "SharedRanking",
    "SourceError",
    "Suggestion",
    "Sweep",
    "TableWarning",
    "UnheardError",
    "Waves",
    "__version__",
    "add_counts",
    "bea_a_star",
    "bea_lambda",
    "build_question",
    "calibrate",
    "calibrate_from_waves",
    "check_response_rates",
    "combine_follow_up",
    "compare",
    "count_ratings",
    "estimate",
    "find_breakdown",
    "find_shared_breakdown",
    "find_shared_top_k_breakdown",
    "find_top_k_breakdown",
    "make_report",
    "plan_follow_up",
    "plan_table",
    "pool_windows",
    "rank",
    "rank_intervals",
    "rank_shared",
    "rate",
    "read_assumption",
    "regret_lower_bound",
    "suggest_participation",
    "sweep",
    "tally",
    "write_assumption",
    "write_sql",
]


_provide(
    presenter="unheard.present.results",
    drawer="unheard.charts.notebook",
    game="unheard.game.minimax_method",
)


def __getattr__(name: str) -> object:
    """Fetch a name when it is first used."""
    if name == "charts":
        return _importlib.import_module("unheard.charts")
    if name not in _LATER:
        raise AttributeError(f"module 'unheard' has no attribute {name!r}")
    return getattr(_importlib.import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    """List the public names, those fetched later included."""
    return sorted([*__all__, "charts"])
