"""The dbt package, and models that the command writes, run by dbt itself."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jinja2
import pyarrow as pa
import pytest

import unheard as uh
from tests.tables.engines import PostgresBench, bench
from tools import build_dbt
from unheard.errors import OptionError
from unheard.tables.public_functions import TableWarning
from unheard.tables.sql.dialects import render

PACKAGE = Path(build_dbt.__file__).resolve().parent.parent / "dbt"

# Skewed either way, too few, all at one end, none at all; F has more ratings than people.
_COUNTS = {
    "A": (1, 2, 3, 8, 20), "B": (20, 3, 1, 1, 9), "C": (0, 0, 0, 0, 6),
    "D": (3, 3, 3, 3, 3), "E": (1, 0, 0, 0, 0), "F": (5, 4, 60, 90, 1),
}  # fmt: skip
_PEOPLE = {"A": 80, "B": 200, "C": 9, "D": 15, "E": 40, "F": 900, "G": 5, "H": 12}
STAYS: list[dict[str, Any]] = [
    {"hotel": hotel, "city": "xy"[hotel >= "D"], "stars": star, "score": (7 * k + star) % 11}
    for hotel, counts in _COUNTS.items()
    for star, count in enumerate(counts, start=1)
    for k in range(count)
]  # fmt: skip
# Rows that cannot be counted: without a rating, off the scale, and without an item.
STRAY: list[dict[str, Any]] = [
    {"hotel": "G", "city": "y", "stars": None, "score": 3},
    {"hotel": "A", "city": "x", "stars": 7, "score": 10},
    {"hotel": None, "city": "x", "stars": 5, "score": 10},
]
GUESTS: list[dict[str, Any]] = [{"hotel": hotel, "guests": n} for hotel, n in _PEOPLE.items()]
TOTALS: list[dict[str, Any]] = [
    {"hotel": hotel, **{f"c{star}": n for star, n in enumerate(counts, start=1)}}
    for hotel, counts in _COUNTS.items()
]

for stay in STAYS + STRAY:
    stay["ratio"] = 0.1 * (1 + ord(str(stay["hotel"])[0]) % 7)
    stay["people"] = _PEOPLE.get(stay["hotel"], 9)
# An n that varies, one that is missing in a row, and one that is below the number of ratings.
STAYS[0]["people"] = 81
next(stay for stay in STAYS if stay["hotel"] == "B")["people"] = None
for stay in STAYS:
    stay["people"] = 14 if stay["hotel"] == "D" else stay["people"]

_BY_STARS = {"item": "hotel", "rating": "stars"}
_WITH_N = {"n_column": "guests", "n_table": "guests"}
MODELS: dict[str, dict[str, Any]] = {
    "any": {**_BY_STARS, "q": 0.3},
    "any_with_n": {**_BY_STARS, "q": "reviews", **_WITH_N, "level": 0.9},
    "by_column": {**_BY_STARS, "q_column": "ratio", "quiet": "high"},
    "low": {**_BY_STARS, "q": "coat", "level": 0.8},
    "low_with_n": {**_BY_STARS, "q": 0.3, "quiet": "low", "n_column": "people"},
    "high_with_n": {**_BY_STARS, "q": 0.4, "quiet": "high", **_WITH_N, "ranks": False},
    "middle": {**_BY_STARS, "q": 0.2, "quiet": "middle", "level": None},
    "middle_with_n": {**_BY_STARS, "q": 0.2, "quiet": "middle", **_WITH_N},
    "scores": {
        "item": ["city", "hotel"], "rating": "score", "scale": list(range(11)), "q": 0.5,
        "level": 0.99,
    },
    "of_counts": {
        "item": "hotel", "counts": ["c1", "c2", "c3", "c4", "c5"], "q": 0.3, "quiet": "low",
        "scale": [1, 2, 4, 4.5, 8], "table": "totals",
    },
}  # fmt: skip
"""Arguments of the macro by model; both tables and seeds are found by their names."""

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "q": ({**_BY_STARS, "q": 1.3}, "q must be in (0, 1]; got 1.3."),
    "assumption": (_BY_STARS, "an assumption about who responds is required."),
    "preset": ({**_BY_STARS, "q": "lenient"}, "name of a preset or study; got 'lenient'."),
    "quiet": (
        {**_BY_STARS, "q": 0.3, "quiet": "lowish"},
        "quiet must be 'any', 'low', 'high' or 'middle'; got 'lowish'.",
    ),
    "scale": ({**_BY_STARS, "q": 0.3, "scale": [3, 1]}, "scale[1] must be above the value"),
    "counts": (
        {"item": "hotel", "counts": ["c1", "c2"], "q": 0.3, "scale": [1, 2, 3]},
        "counts has 2 columns for a scale of 3 values.",
    ),
    "level": ({**_BY_STARS, "q": 0.3, "level": 0.5}, "level must be 0.8, 0.9, 0.95, 0.99 or none"),
    "item": ({"item": "lower", "rating": "stars", "q": 0.3}, "got 'lower'. Rename the column"),
    "reserved": ({"item": "uh_x", "rating": "stars", "q": 0.3}, "begins with uh_"),
    "n": ({**_BY_STARS, "q": 0.3, "n_table": "guests"}, "n_table requires n_column."),
}

_RUN = """
import json, sys
from dbt.cli.main import dbtRunner
for words in json.loads(sys.argv[1]):
    dbtRunner().invoke(words)
"""


def _write_call(arguments: Mapping[str, Any]) -> str:
    """Write a model that calls the macro."""

    def write(name: str, value: Any) -> str:
        return f"ref({value!r})" if name == "n_table" else json.dumps(value).replace("null", "none")

    given = {name: value for name, value in arguments.items() if name != "table"}
    table = arguments.get("table", "stays")
    words = "".join(f", {name}={write(name, value)}" for name, value in given.items())
    return f"{{{{ unheard.rate(ref('{table}'){words.replace('False', 'false')}) }}}}\n"


def _write_seed(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _write_project(folder: Path, output: dict[str, Any], dialect: str) -> None:
    for name in ("models", "seeds"):
        (folder / name).mkdir()
    project = {"name": "shop", "version": "1.0", "config-version": 2, "profile": "shop"}
    profile = {"shop": {"target": "dev", "outputs": {"dev": {"threads": 1, **output}}}}
    # JSON is YAML, too.
    (folder / "dbt_project.yml").write_text(json.dumps(project))
    (folder / "profiles.yml").write_text(json.dumps(profile))
    (folder / "packages.yml").write_text(json.dumps({"packages": [{"local": str(PACKAGE)}]}))
    source = {"name": "raw", "schema": output["schema"], "tables": [{"name": "stays"}]}
    (folder / "models" / "sources.yml").write_text(json.dumps({"version": 2, "sources": [source]}))
    for name, rows in (("stays", STAYS + STRAY), ("guests", GUESTS), ("totals", TOTALS)):
        _write_seed(folder / "seeds" / f"{name}.csv", rows)
    for name, arguments in MODELS.items():
        (folder / "models" / f"{name}.sql").write_text(_write_call(arguments))
    for name, (arguments, _) in REFUSED.items():
        # Refused while it runs, so that the other models are still built.
        call = f"{{% if execute %}}{_write_call(arguments)}{{% endif %}}"
        needs = "-- depends_on: {{ ref('stays') }} {{ ref('guests') }}\n"
        (folder / "models" / f"refused_{name}.sql").write_text(needs + call)
    command = uh.write_sql(
        "hotel", "stars", dialect=dialect, table="raw.stays", q=0.3, n_table="guests",
        n_column="guests", dbt=True,
    )  # fmt: skip
    (folder / "models" / "by_command.sql").write_text(f"-- {{{{ ref('stays') }}}} first\n{command}")


def _find_python() -> str:
    """Return the Python that has dbt. Missing: a failure in CI, a loud skip elsewhere."""
    found = PACKAGE.parent / "build" / "dbt" / "bin" / "python"
    if not found.exists():
        words = "DBT MISSING: run `make test`, which sets it up"
        assert not os.environ.get("CI"), words
        pytest.skip(words)
    return str(found)


def _run_dbt(folder: Path) -> tuple[str, dict[str, dict[str, Any]]]:
    """Run dbt; return what it printed, and what became of each model and seed."""
    commands = [["--quiet", "deps"], ["--quiet", "build"]]
    done = subprocess.run(
        [_find_python(), "-c", _RUN, json.dumps(commands)],
        cwd=folder,
        env=os.environ
        | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DBT_USE_COLORS": "false"}
        | {"DBT_PROFILES_DIR": str(folder), "DBT_PARTIAL_PARSE": "false", "PYTHONWARNINGS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    results = folder / "target" / "run_results.json"
    assert results.exists(), done.stdout + done.stderr
    found = json.loads(results.read_text())["results"]
    return done.stdout, {one["unique_id"].rpartition(".")[2]: one for one in found}


def _expect(arguments: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tables = {"guests": pa.Table.from_pylist(GUESTS)}
    given = {name: value for name, value in arguments.items() if name != "table"}
    if "n_table" in given:
        given["n_table"] = tables[given["n_table"]]
    if "n_column" in given:
        given["bad_n"] = "drop"
    if "rating" in given:
        given |= {"nulls": "drop", "off_scale": "drop"}
    named = [row for row in rows if row["hotel"] is not None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        found = uh.rate(pa.Table.from_pylist(named), **given)
    return list(found.to_pylist())


def _check_rows(
    found: Iterable[Mapping[str, Any]], expected: list[dict[str, Any]], keys: list[str]
) -> None:
    by_item = {tuple(row[key] for key in keys): row for row in found}
    assert len(by_item) == len(expected)
    for row in expected:
        got = by_item[tuple(row[key] for key in keys)]
        assert list(got) == list(row)
        for name, value in row.items():
            if name in ("ci_best_rank", "ci_worst_rank"):
                assert got[name] is None
            elif isinstance(value, float):
                assert got[name] == pytest.approx(value, rel=1e-12, abs=1e-12), (row, name)
            else:
                assert got[name] == value, (row, name)


def _read_duckdb(path: Path, names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    import duckdb

    with duckdb.connect(str(path), read_only=True) as connection:
        return {
            name: connection.sql(f"from main.{name}").to_arrow_table().to_pylist() for name in names
        }


def _read_postgres(url: str, names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    import psycopg
    from psycopg.rows import dict_row

    with psycopg.connect(url, row_factory=dict_row) as connection:
        return {name: connection.execute(f"select * from shop.{name}").fetchall() for name in names}


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_models_equal_rate(engine: str, tmp_path: Path) -> None:
    """What dbt builds is what ``rate`` gives, and what cannot be built says why."""
    output: dict[str, Any]
    url = ""
    if engine == "duckdb":
        output = {"type": "duckdb", "path": str(tmp_path / "shop.duckdb"), "schema": "main"}
    else:
        server = bench("postgres")
        assert isinstance(server, PostgresBench)
        url = server.url
        (host,) = parse_qs(urlsplit(url).query)["host"]
        output = {
            "type": "postgres", "host": host, "port": 5432, "user": "postgres", "password": "-",
            "dbname": "postgres", "schema": "shop",
        }  # fmt: skip
    _write_project(tmp_path, output, engine)
    printed, results = _run_dbt(tmp_path)
    built = [*MODELS, "by_command"]
    assert {name: results[name]["status"] for name in built} == dict.fromkeys(built, "success"), (
        printed
    )
    for name, (_, message) in REFUSED.items():
        result = results[f"refused_{name}"]
        assert result["status"] == "error", printed
        assert f"unheard.rate: {message}" in result["message"] or message in result["message"]
    if engine == "duckdb":
        found = _read_duckdb(tmp_path / "shop.duckdb", built)
    else:
        found = _read_postgres(url, built)
    by_command = {**_BY_STARS, "q": 0.3, **_WITH_N}
    for name, arguments in (MODELS | {"by_command": by_command}).items():
        rows = TOTALS if "counts" in arguments else STAYS + STRAY
        expected = _expect(arguments, rows)
        item = arguments["item"]
        _check_rows(found[name], expected, [item] if isinstance(item, str) else item)


def test_yaml_of_the_readme_can_be_parsed() -> None:
    yaml = pytest.importorskip("yaml")
    blocks = re.findall(r"```yaml\n(.*?)```", (PACKAGE / "README.md").read_text("utf-8"), re.DOTALL)
    assert [list(yaml.safe_load(block)) for block in blocks] == [["packages"], ["models"]]


def test_macros_are_up_to_date() -> None:
    assert build_dbt.find_stale() == []
    assert f"version: {uh.__version__}\n" in (PACKAGE / "dbt_project.yml").read_text()


def test_every_dialect_writes_the_same_text() -> None:
    """The macros replace types, fences and the sign that joins text, and nothing else differs."""
    query = build_dbt.build_query("high", n_known=True, level=0.95)
    steps = [step for _, step in (*query.steps, *query.ranked[:-1])]

    def write(dialect: str) -> list[str]:
        texts = [render(step.copy(), dialect).lower() for step in steps]
        for kind in ("double", "bigint"):
            type_name = build_dbt.write_type(kind, dialect).lower()
            texts = [text.replace(f" as {type_name})", f" as {kind})") for text in texts]
        # SQL Server's text repeats names that are as they are.
        return [re.sub(r"\b((?:\w+\.)?(\w+)) as \2\b", r"\1", text) for text in texts]

    plain = write(build_dbt.PLAIN)
    # DuckDB divides by zero without an error; its texts leave the guards out.
    for dialect in {*build_dbt.ADAPTERS.values()} - {"duckdb"}:
        assert write(dialect) == plain, dialect


def test_models_refer_to_models_and_sources() -> None:
    text = uh.write_sql(
        ["ho{{tel", "{#"], "stars", dialect="snowflake", table="raw.it's", q_table="q_by_hotel",
        q_column="q", dbt=True,
    )  # fmt: skip
    assert r"{{ source('raw', 'it\'s') }}" in text
    assert "{{ ref('q_by_hotel') }}" in text
    assert ";" not in text
    # Nothing else is left for dbt to replace.
    rendered = jinja2.Template(text).render(ref=str, source=lambda *parts: ".".join(parts))
    assert '"ho{{tel"' in rendered
    assert '"{#"' in rendered


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"view": "rated"}, "view and dbt cannot be combined"),
        ({"table": "a.b.c"}, "table is neither a model nor a table of a source; got 'a.b.c'"),
    ],
)
def test_models_refuse_what_dbt_does_itself(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        uh.write_sql("hotel", "stars", dialect="postgres", q=0.3, dbt=True, **options)
