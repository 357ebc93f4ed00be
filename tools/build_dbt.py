"""The generated macros of the dbt package: the closed forms as SQL, the scale still open.

    python -m tools.build_dbt            # the macros are up to date
    python -m tools.build_dbt --update   # rewrite them

``dbt/macros/rate.sql`` checks its arguments, counts, and spreads the counts over a row for each
rating; the macros written here make results of them. What runs there is what every other engine
runs: the formulas of the package, on a sheet that does not know the scale. All dialects share one
text but for a few words.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from sqlglot import exp

from tools.any_scale import LONGEST, VALUES, AnySheet
from unheard.formulas.boxes import QUIET
from unheard.model.histograms import LARGEST_COUNT
from unheard.model.studies import EVIDENCE, PRESETS
from unheard.tables.engines.arrow_batches import Formula
from unheard.tables.pipeline import read_request
from unheard.tables.request import RESULT_COLUMNS
from unheard.tables.sql.dialects import column, identifier, render
from unheard.tables.sql.layout import Chain, lay_out
from unheard.tables.sql.pretty import write_lines
from unheard.tables.sql.rate_query import Prepared, write_rate_query
from unheard.tables.sql.reserved_names import END, PLACE, reserve

FOLDER = Path(__file__).resolve().parent.parent / "dbt" / "macros" / "generated"

LEVELS = (0.8, 0.9, 0.95, 0.99)
"""Levels of confidence intervals; the numbers that go with each are fitted here."""

ADAPTERS = {
    "bigquery": "bigquery",
    "duckdb": "duckdb",
    "postgres": "postgres",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "sqlserver": "tsql",
    "trino": "trino",
}
"""Adapters of dbt and the dialects that they write. The planners of others (ClickHouse, Databricks,
MySQL, Spark) need a text of their own, which ``unheard sql --dbt`` writes."""

PLAIN = "spark"
"""The dialect that the text is written in: it has no words of its own for anything needed here."""

Step = tuple[str, exp.Expr]

_ITEM = "item_column"
_SPREAD, _STEP, _COMPUTED = map(reserve, ("spread", "step_", "computed"))
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
_NOTE = "{#- Written by tools/build_dbt.py: do not edit. -#}\n"


@dataclass(frozen=True)
class Query:
    """The query from rows of ratings to results, step by step.

    Attributes
    ----------
    constants
        Columns that hold a number of the level.
    has_ends
        Whether there is a row for either end of the scale.
    steps
        From the rows of ratings to estimates, bounds and limits.
    ranked, unranked
        The rest, with ranks and without.
    """

    constants: Mapping[str, str]
    has_ends: bool
    steps: Sequence[Step]
    ranked: Sequence[Step]
    unranked: Sequence[Step]


@dataclass
class _Tables:
    """What the macros look up.

    Attributes
    ----------
    numbers
        Names of the numbers that depend on the level, by their text at each.
    columns
        Columns that hold such a number, and the name of the number.
    ends
        The ends of the scale that each macro wants rows for.
    """

    numbers: dict[tuple[str, ...], str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    ends: dict[str, list[str]] = field(default_factory=dict)

    def name_number(self, texts: tuple[str, ...]) -> str:
        """Return the name of a number."""
        return self.numbers.setdefault(texts, f"k{len(self.numbers) + 1}")


def write_files() -> dict[str, str]:
    """Write all generated files, by name."""
    tables, files = _Tables(), {}
    for quiet, n_known in product(QUIET, (False, True)):
        name = f"{quiet}_with_n" if n_known else quiet
        bounds = [build_query(quiet, n_known, None)]
        limits = [build_query(quiet, n_known, level) for level in LEVELS]
        files[f"{name}.sql"] = (
            f"{_NOTE}{_write_macro(f'{name}_bounds', bounds, tables)}\n"
            f"{_write_macro(f'{name}_limits', limits, tables)}"
        )
    files["tables.sql"] = _NOTE + "".join(_write_tables(tables))
    return files


def build_query(quiet: str, n_known: bool, level: float | None) -> Query:
    """Build the query for one kind of assumption."""
    request = read_request(
        item=_ITEM,
        rating="rating_column",
        scale=VALUES,
        q_column="q_column",
        n_column="n_column" if n_known else None,
        quiet=quiet,
        level=level,
    )
    # How many items are compared is not known, and so is the level of ranks for all of them.
    request = replace(request.without_refusals(), sampling_error=False)
    made: list[tuple[Chain, list[str]]] = []

    def compute(
        query: exp.Query, keys: Sequence[str], formula: Formula
    ) -> tuple[exp.Expr, Sequence[str]]:
        if not made:
            outputs = formula(AnySheet())
            made.append((lay_out(outputs, keys), list(outputs)))
        return exp.to_table(_COMPUTED), made[0][1]

    prepared = Prepared(exp.to_table(_SPREAD), compute=compute)
    ranked, unranked = (
        _take_apart(write_rate_query(replace(request, ranks=ranks), prepared))
        for ranks in (True, False)
    )
    chain, _ = made[0]
    constants = {name: value.this.sql(PLAIN) for name, value in chain.constants}
    has_ends = chain.condition is not None
    return Query(constants, has_ends, list(_write_chain(chain)), ranked, unranked)


def _write_chain(chain: Chain) -> Iterator[Step]:
    latest = _SPREAD
    for place, made in enumerate(chain.steps, start=1):
        columns = [exp.Alias(this=what, alias=identifier(name)) for name, what in made]
        yield (
            reserve(f"step_{place}"),
            exp.select("*", *columns, copy=False).from_(latest, copy=False),
        )
        latest = f"{_STEP}{place}"
    results = [exp.Alias(this=what, alias=identifier(name)) for name, what in chain.results]
    first = exp.and_(column(END).eq(exp.Literal.string("lower")), column(PLACE).eq(1))
    last = exp.select(column(_ITEM), *results, copy=False).from_(latest, copy=False).where(first)
    yield _COMPUTED, last


def _take_apart(query: exp.Select) -> list[Step]:
    """Return the steps of a query; the last has no name."""
    steps = [(step.alias, step.this) for step in query.ctes]
    query.set("with_", None)
    return [*steps, ("", query)]


def _write_macro(name: str, queries: Sequence[Query], tables: _Tables) -> str:
    """Write the macro of one kind of assumption, from its queries at all levels."""
    first = queries[0]
    for constant in first.constants:
        number = tables.name_number(tuple(query.constants[constant] for query in queries))
        assert tables.columns.setdefault(constant, number) == number
    tables.ends[name] = ["lower", "upper"] if first.has_ends else ["lower"]
    numbers = _name_numbers([[step for _, step in query.steps] for query in queries], tables)
    steps = _NUMBER.sub(lambda _: next(numbers), ",\n".join(map(_write_step, first.steps)))
    ranked, unranked = (
        ",\n".join(map(_write_step, rest[:-1])) + f"\n{_write_step(rest[-1])}"
        for rest in (first.ranked, first.unranked)
    )
    return (
        f"{{%- macro {name}(item, keys, ranks, d, k) -%}}\n{steps},\n"
        f"{{%- if ranks %}}\n{ranked}\n{{%- else %}}\n{unranked}\n{{%- endif %}}\n"
        f"{{%- endmacro %}}\n"
    )


def _name_numbers(levels: Sequence[Sequence[exp.Expr]], tables: _Tables) -> Iterator[str]:
    """Write the numbers in steps, in their order; those that depend on the level are looked up."""
    texts = ["\n".join(step.sql(PLAIN) for step in steps) for steps in levels]
    assert len({_NUMBER.sub("0", text) for text in texts}) == 1, "levels differ in more"
    for found in zip(*map(_NUMBER.findall, texts), strict=True):
        alike = len(set(found)) == 1
        yield found[0] if alike else f"{{{{ k.{tables.name_number(found)} }}}}"


def _write_step(step: Step) -> str:
    """Write a step, and leave open what dialects write differently and what the items are."""
    name, query = step
    text = write_lines(render(query.copy(), PLAIN), PLAIN)
    for kind in ("double", "bigint"):
        text = text.replace(f" AS {write_type(kind, PLAIN)})", f" AS {{{{ d.{kind} }}}})")
    # SQL Server requires a length.
    text = re.sub(r", 2\)(?=\s+AS notes\b)", ", 2, 400)", text.replace("||", "{{ d.join }}"))
    same_item = rf"(\w+)\.{_ITEM} = (\w+)\.{_ITEM}"
    text = re.sub(same_item, r"{{ unheard.match_items(item, '\1', '\2') }}", text)
    text = text.replace(_ITEM, "{{ keys }}")
    fence = "{{ d.fence }}" if name.startswith(_STEP) else ""
    return f"{name} AS (\n{text}{fence}\n)" if name else text


def write_type(kind: str, dialect: str) -> str:
    """Write a type as casts to it name it."""
    return exp.cast(exp.column("x"), kind).sql(dialect).removesuffix(")").partition(" AS ")[2]


def _write_tables(tables: _Tables) -> Iterator[str]:
    """Write what the macros look up: numbers of levels, values of q by name, words of dialects."""
    levels = {
        str(level): {name: texts[place] for texts, name in tables.numbers.items()}
        for place, level in enumerate(LEVELS)
    }
    named = {name: [q, "any"] for name, q in PRESETS.items()}
    named |= {one.slug: [one.q, one.direction] for one in EVIDENCE if one.slug and one.q}
    limits = {"ratings": LONGEST, "count": LARGEST_COUNT, "columns": list(RESULT_COLUMNS)}
    yield _write_lookup("level_numbers", levels)
    yield _write_lookup("level_columns", tables.columns)
    yield _write_lookup("ends", tables.ends)
    yield _write_lookup("values_of_q", named)
    yield _write_lookup("limits", limits)
    for adapter, dialect in ADAPTERS.items():
        words = {kind: write_type(kind, dialect) for kind in ("double", "bigint")}
        words["join"] = "+" if dialect == "tsql" else "||"
        words["fence"] = _write_fence(dialect)
        yield _write_lookup(f"{adapter}__dialect", words)


def _write_fence(dialect: str) -> str:
    """Write what keeps an engine from merging a step with the one after it."""
    step = exp.select(exp.alias_(exp.Literal.number(1), "a"))
    text = render(exp.select("a").from_(f"{_STEP}1").with_(f"{_STEP}1", as_=step), dialect)
    return "\nOFFSET 0" if "OFFSET 0" in text else ""


def _write_lookup(name: str, table: Mapping[str, object]) -> str:
    # JSON is also Jinja, where nothing in it is null, true or false.
    text = json.dumps(table, indent=2, ensure_ascii=False)
    return f"\n{{% macro {name}() %}}{{{{ return({text}) }}}}{{% endmacro %}}\n"


def find_stale() -> list[str]:
    """Name the files that are not what the formulas give."""
    files = write_files()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.sql")}
    return [name for name in sorted({*files, *there}) if files.get(name) != there.get(name)]


def main() -> None:
    """Compare the generated macros with the formulas, or rewrite them."""
    if "--update" in sys.argv[1:]:
        FOLDER.mkdir(parents=True, exist_ok=True)
        files = write_files()
        for path in FOLDER.glob("*.sql"):
            if path.name not in files:
                path.unlink()
        for name, text in files.items():
            (FOLDER / name).write_text(text, encoding="utf-8")
    elif stale := find_stale():
        sys.exit(f"Stale in dbt: {', '.join(stale)}; `make docs-update` rewrites them.")


if __name__ == "__main__":
    main()
