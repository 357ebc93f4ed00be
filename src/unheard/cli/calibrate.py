"""``unheard calibrate``: participation from an audit, reminders, response rates, or studies."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from unheard.cli.console import make_console, make_page, show_lines, show_result
from unheard.cli.messages import show_message
from unheard.cli.options import Values, refuse_options, takes_options
from unheard.cli.tables import read_where
from unheard.errors import OptionError
from unheard.model.studies import PRESETS, list_evidence
from unheard.present.evidence import write_evidence
from unheard.text import printable

if TYPE_CHECKING:
    from unheard.tables.calibration import Calibrated


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", metavar="[TABLE]", nargs=-1)
@takes_options("calibrate")
def calibrate(values: Values, words: tuple[str, ...]) -> None:
    """Estimate participation from an audit, or from reminders.

    TABLE is read as by unheard rate. An audit includes ratings of people who did not respond: of
    all of them, of people drawn at random, or of everybody who knows some items. Without an audit,
    learn from who responded to which reminder (--wave), or take a suggestion from the response
    rates of many items (--across-items).

    \b
    Examples:
      unheard calibrate audit.csv --item hotel --rating stars --answered reviewed -o audit.json
      unheard calibrate audit.csv --item hotel --observed o1,o2,o3 --truth t1,t2,t3
      unheard calibrate audit.csv --item hotel --population which --counts n1,n2,n3,n4,n5
      unheard calibrate survey.csv --item course --rating stars --wave request --n-column enrolled
      unheard calibrate courses.csv --item course --rating stars --n-column n --across-items
      unheard calibrate 120 30 45 200 605 --n 2400 --response-rate
      unheard calibrate --evidence
    """
    if values["evidence"]:
        if words:
            raise click.UsageError("--evidence takes no table.")
        _show_evidence(values["json"])
    elif values["response_rate"]:
        from unheard.cli.rates import show_rates

        show_rates(words, values)
    else:
        _calibrate(words, values)


def _calibrate(words: tuple[str, ...], values: Values) -> None:
    from unheard.cli.progress import show_progress
    from unheard.tables.calibration import calibrate_table
    from unheard.tables.learning_table import Tool
    from unheard.tables.sources.files import files_of

    refuse_options(words)
    if len(words) != 1:
        raise click.UsageError("Name one table, or use --response-rate or --evidence.")
    target = _choose_target(values["output"], files_of(words[0]))
    tool = Tool(
        read_where(values),
        lambda words, at: show_progress(words, at.fraction),
        lambda words: show_message(f"Note: {words}"),
    )
    with show_progress("calibrating", lambda: None):
        found = calibrate_table(words[0], values, tool)
    document = found.build_document()
    if target is not None:
        _write(target, document, found)
    if values["json"]:
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        _show(found, target)


def _choose_target(output: str | None, inputs: Any) -> Path | None:
    if output is None:
        return None
    from unheard.tables.output.write import check_target

    path = Path(output)
    if path.is_dir():
        raise OptionError(
            "output", problem="{argument} is a folder", value=str(path), hint="Name a file"
        )
    if path.suffix.lower() not in (".json", ".csv"):
        raise OptionError(
            "output",
            problem="{argument} has an unknown ending",
            value=str(path),
            hint="Use .json or .csv",
        )
    check_target(path, inputs)
    return path


def _write(target: Path, document: dict[str, Any], found: Calibrated) -> None:
    from unheard.files import beside
    from unheard.tables.output.safe_cells import safe_cell

    text = json.dumps(document, ensure_ascii=False, indent=1)
    if target.suffix.lower() == ".csv":
        if not found.columns:
            raise OptionError(
                "output",
                problem="A .csv file requires {segment} or {window}",
                value=str(target),
                hint="Write .json instead",
            )
        lines = io.StringIO()
        table = csv.writer(lines, lineterminator="\n")
        rows = found.list_rows()
        table.writerow(map(safe_cell, rows[0]))
        for row in rows:
            table.writerow(map(safe_cell, row.values()))
        text = lines.getvalue()
    with beside(target) as fresh:
        fresh.write_text(text, encoding="utf-8")


def _show(found: Calibrated, target: Path | None) -> None:
    if found.drift is not None:
        show_result(found.drift)
        show_lines([""])
    for name, one in zip(found.names, found.found, strict=True):
        if found.drift is not None:
            continue
        if found.columns:
            words = f"{', '.join(found.columns)}: {printable(','.join(name))}"
            show_lines([Text(words, "bold")])
        show_result(one)
        show_lines([""])
    show_lines([printable(_advise(found, target))])


def _advise(found: Calibrated, target: Path | None) -> str:
    """Say how to use what was found."""
    if any(one.source == "waves" and one.warnings for one in found.found):
        return "Do not use what the responses contradict: state q, as in --q 0.3."
    first = found.found[0].source
    used = str(target) if target is not None else f"{'audit' if first == 'audit' else first}.json"
    quiet = "" if found.quiet == "any" else f" --quiet {found.quiet}"
    if target is not None and target.suffix.lower() == ".csv":
        return f"Use it as a table of q: unheard rate ... --q-table {used}{quiet}"
    kept = "Use it" if target is not None else f"Keep it: -o {used}. Use it"
    part = f"#{','.join(found.names[0][: 1 if found.drift else None])}" if found.columns else ""
    advice = f"{kept} wherever q is stated: --assumption {used}{part}"
    if found.drift is not None:
        used = f"-o q.csv, then unheard rate ... --q-table q.csv{quiet}"
        advice += f". For each window its own q: {used}"
    return advice


def _show_evidence(as_json: bool) -> None:
    if as_json:
        click.echo(
            json.dumps({"presets": PRESETS, "evidence": list_evidence()}, ensure_ascii=False)
        )
        return
    console = make_console()
    show_lines(write_evidence(make_page(console)), console)
