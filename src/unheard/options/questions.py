"""Which question takes which options, in the order in which help lists them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from unheard.options import declarations as o
from unheard.options.choices import TABLE_METHODS
from unheard.options.option import Option, Where

Options: TypeAlias = tuple[Option, ...]

ASSUMPTION: Options = (o.Q, o.FLOOR, o.QUIET, o.PARTICIPATION, o.G, o.ASSUMPTION)
_LEVEL = replace(o.LEVEL, kind="number", help="Level of the confidence interval.")
SETTINGS: Options = (o.SCALE, _LEVEL, o.COVERS)
COLUMNS: Options = (o.ITEM, o.RATING, o.LABELS, o.FREQUENCY, o.COUNTS)
PEOPLE: Options = (o.N, o.N_COLUMN, o.N_TABLE, o.BAD_N)
TIME: Options = (o.TIME, o.WINDOW, o.EVERY)
ROWS: Options = (o.NULLS, o.OFF_SCALE, o.RATER, o.DUPLICATES, o.MAX_DROPPED)
FILES: Options = (o.SHEET, o.ENCODING, o.HEADER)
_ENGINES: Options = (o.TABLE, o.QUERY, o.ENGINE, o.SPARK_MASTER, o.MEMORY)
READING: Options = (*FILES, *_ENGINES)
DRAWING: Options = (o.FORMAT, o.THEME, o.WIDTH)
CLAIM: Options = (o.ABOVE, o.BELOW)
GOAL: Options = (o.GOAL_WIDTH, o.GOAL_ABOVE, o.GOAL_BELOW, o.POWER, o.NONRESPONDENTS)

_WEIGHTS: Options = (o.EFFECTIVE, o.SQUARED_WEIGHTS, o.LARGEST_WEIGHT)
_TABLE_N = replace(o.N, help="Number of people of each item, non-respondents included.")
_TABLE_SCALE = replace(
    o.SCALE,
    help="The values a rating may take: 1:5, 0.5:5:0.5 or 1,2,4. By default 1 to 5, or 1 to the "
    "number of {counts} columns.",
)
_TABLE_METHOD = replace(
    o.METHOD,
    choices={method: method for method in TABLE_METHODS},
    help=o.METHOD.help.replace(", minimax.", "."),
)
_ALL_METHODS = replace(
    o.METHOD, choices={**o.METHOD.choices, "all": "all"}, help=f"{o.METHOD.help} Or all that apply."
)

RATED: Options = (
    *COLUMNS,
    o.Q,
    o.Q_COLUMN,
    o.Q_TABLE,
    *ASSUMPTION[1:],
    _TABLE_N,
    *PEOPLE[1:],
    o.STRATA,
    _TABLE_SCALE,
    _TABLE_METHOD,
    o.LEVEL,
    o.COVERS,
    *TIME,
    o.NULLS,
)
"""What is rated, what is assumed, and how."""

_TABLE: Options = (
    *RATED,
    o.MIN_RATINGS,
    o.RATER,
    o.DUPLICATES,
    o.BY_EXPERIENCE.only("python", "command"),
    o.OFF_SCALE,
    o.MAX_DROPPED,
    *READING,
)
_RESULT: Options = (o.SORT, o.BACKEND, o.OUTPUT, o.TO_TABLE, o.TOP, o.JSON)
_NAMED: Options = (o.SOURCE, *(one.only("command") for one in (*COLUMNS, *PEOPLE[1:], *ROWS)))
_NAMED_READING: Options = tuple(one.only("command") for one in READING)


PLANNED: Options = (
    o.BUDGET,
    *COLUMNS,
    o.Q_COLUMN,
    o.Q_TABLE,
    *PEOPLE[1:],
    *TIME,
    *ROWS,
    o.MIN_RATINGS,
    *READING,
)
"""What a plan for a table takes besides the options of a plan for counts."""

_REGRET_QUIET = o.QUIET.help.partition(" By default")[0]


def _shared_or_separate(help: str) -> Option:
    return replace(o.SHARED, default=None, off="separate", help=help)


@dataclass(frozen=True)
class Group:
    """A group of questions that ``--help`` lists together."""

    title: str
    names: tuple[str, ...]


QUESTIONS: dict[str, Options] = {
    "demo": (o.JSON,),
    "estimate": (*ASSUMPTION, o.N, o.SCALE, _ALL_METHODS, o.LEVEL, o.COVERS, *_WEIGHTS, o.JSON),
    "rate": (
        *_TABLE,
        o.WEIGHT,
        o.RANKS.only("python", "command"),
        o.SHARED,
        *_RESULT,
    ),
    "rank": (o.K, *CLAIM, o.WHO, *_TABLE, o.SHARED, o.SAMPLING_ERROR, *_RESULT),
    "chart": DRAWING,
    "rank_chart": (o.DRAWN,),
    "inspect": tuple(one.only("rest") for one in FILES),
    "counts": (
        *COLUMNS,
        _TABLE_SCALE,
        *TIME,
        *ROWS,
        o.INTO.only("command"),
        o.BATCH.only("command"),
        *READING,
        *_RESULT[1:],
    ),
    "add_counts": tuple(
        one.only("python")
        for one in (
            o.INTO,
            *COLUMNS,
            o.BATCH,
            _TABLE_SCALE,
            *TIME,
            replace(o.NULLS, default=None),
            replace(o.OFF_SCALE, default=None),
            o.MAX_DROPPED,
            o.RATER,
            *READING,
        )
    ),
    "sql": (
        o.DIALECT,
        o.SQL_TABLE,
        o.VIEW,
        o.DBT,
        o.TEXT_RATINGS,
        *(one.only("python", "command") for one in RATED),
        o.RANKS.only("python", "command"),
    ),
    "sweep": (
        *CLAIM,
        replace(
            o.Q,
            kind="ratios",
            metavar="Q,...",
            help="Participation ratios to look at, separated by commas. By default some from 1 to "
            "0.01.",
        ),
        replace(
            o.FLOOR,
            kind="numbers",
            metavar="FLOOR,...",
            help="Instead of {q}: least probabilities of responding. Requires {n}.",
        ),
        *ASSUMPTION[2:],
        o.N,
        *SETTINGS,
        *_NAMED,
        *_NAMED_READING,
        o.JSON,
    ),
    "compare": (
        *ASSUMPTION,
        replace(
            o.N,
            kind="numbers",
            metavar="N_A,N_B",
            help="Number of people of each item, non-respondents included.",
        ),
        *SETTINGS,
        _shared_or_separate(
            "Show one way alone: one participation shared by both items, or one of its own for "
            "each. By default both are shown."
        ).only("command"),
        *_NAMED,
        *_NAMED_READING,
        o.JSON,
    ),
    "calibrate": (
        o.ANSWERED,
        o.POPULATION,
        o.OBSERVED,
        o.TRUTH,
        o.UNPAIRED,
        o.WAVE,
        o.REMINDER,
        o.ACROSS_ITEMS,
        o.SEGMENT,
        o.BY_EXPERIENCE.only("command"),
        o.RESPONSE_RATE,
        o.EVIDENCE,
        o.SCALE,
        _LEVEL,
        *(
            one.only("command", "rest")
            for one in (*COLUMNS, *ROWS, *TIME[:2], *PEOPLE[:2], o.BAD_N, *FILES)
        ),
        *(one.only("command") for one in (o.N_TABLE, o.EVERY, *_ENGINES)),
        replace(
            o.OUTPUT,
            help="Write the result: .json, for {assumption}; or .csv, a table of q by segment or "
            "window for {q_table}.",
        ),
        o.JSON,
    ),
    "plan": (
        o.N,
        *GOAL,
        o.FOLLOW_UP,
        o.ASKED,
        *ASSUMPTION,
        *SETTINGS[:-1],
        o.PLAN_COVERS,
        *(one.only("command") for one in PLANNED),
        o.OUTPUT,
        o.TOP,
        o.JSON,
    ),
    "plan_table": tuple(
        replace(one, surfaces=one.surfaces - {"command"})
        for one in (
            *GOAL,
            *ASSUMPTION,
            _TABLE_N,
            _TABLE_SCALE,
            _LEVEL,
            o.PLAN_TABLE_COVERS,
            *PLANNED,
        )
    ),
    "report": (
        replace(o.OUTPUT, help="File to write the report to; its name ends in .html."),
        o.TITLE,
        _shared_or_separate(
            "Rank items as rated by one crowd, whose participation distorts all items alike, or "
            "let each item have its own participation. By default one crowd, where that is "
            "possible."
        ),
        replace(
            o.K,
            help="Say which items are among the K best. By default 10, and at most half of the "
            "items.",
        ),
        *CLAIM,
        *_TABLE,
        o.NAME,
        o.COMMAND,
        o.JSON,
    ),
    "regret": (
        o.REGRET_N,
        o.RATINGS,
        o.SCALE,
        o.REGRET_Q,
        o.REGRET_METHODS,
        o.KIND,
        replace(o.QUIET, default="any", help=_REGRET_QUIET),
        o.P,
        o.REGRET_G,
        o.DRAWS,
        o.SEED,
        o.JSON,
    ),
    "minimax": (
        replace(o.REGRET_N, kind="whole", help="Number of people, up to 200."),
        replace(o.REGRET_Q, kind="number", help="Least participation."),
        replace(o.RATINGS, help="Number of ratings, 1 to M. By default 2."),
        o.SCALE,
        replace(o.KIND, help="Kind of regret; excess requires two ratings, at most 50 people."),
        o.OPTIMUM,
        o.JSON,
    ),
    "serve": (
        o.HOST,
        o.PORT,
        o.BROWSER,
        o.PUBLIC,
        o.TOKEN,
        o.MAX_UPLOAD,
        o.MAX_SECONDS,
        o.PATIENCE,
        o.JSON,
    ),
    "paper": (o.FOLDER, o.ONLY, o.FAST, o.DATA, o.JSON),
}
"""The options of each question."""

GROUPS = (
    Group("Estimate and rate", ("demo", "estimate", "rate", "counts", "sql")),
    Group("Decide", ("sweep", "compare", "rank")),
    Group("Calibrate and plan", ("calibrate", "plan")),
    Group("Share", ("report", "serve")),
    Group("Research", ("regret", "minimax", "paper")),
    Group("Set up", ("completion",)),
)
"""The commands as ``unheard --help`` lists them."""


def options_of(question: str, surface: Where) -> dict[str, Option]:
    """Return the options of a question on one surface, by name."""
    return {one.name: one for one in QUESTIONS[question] if surface in one.surfaces}


def labels() -> dict[str, Option]:
    """Return the options that the page shows, by name."""
    return {one.name: one for group in QUESTIONS.values() for one in group if one.label}
