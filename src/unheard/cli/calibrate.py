"""``unheard calibrate``: participation from an audit, a response rate or the literature."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from unheard.analysis.assumption_file import build_audit_document
from unheard.analysis.calibrate import Audit
from unheard.analysis.calibrate import calibrate as find_participation
from unheard.cli.console import make_console, make_page, show_lines, show_result
from unheard.cli.options import Values, pick, refuse_options, takes_options
from unheard.cli.tables import read_where
from unheard.errors import OptionError
from unheard.model.studies import PRESETS, list_evidence
from unheard.present.evidence import write_evidence
from unheard.text import printable

if TYPE_CHECKING:
    from unheard.model.scale import Scale
    from unheard.tables.audit_table import Audited, Layout


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", metavar="[AUDIT]", nargs=-1)
@takes_options("calibrate")
def calibrate(values: Values, words: tuple[str, ...]) -> None:
    """Estimate participation from an audit.

    AUDIT is a table, read as by unheard rate, in which the truth is known: everybody was asked and
    some of them responded, ratings of people drawn at random, or a census of some items.

    \b
    Examples:
      unheard calibrate audit.csv --item hotel --rating stars --answered reviewed -o audit.json
      unheard calibrate audit.csv --item hotel --observed o1,o2,o3 --truth t1,t2,t3
      unheard calibrate audit.csv --item hotel --population which --counts n1,n2,n3,n4,n5
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
    from unheard.tables.audit_table import Layout, read_audit
    from unheard.tables.sources.files import files_of

    refuse_options(words)
    if len(words) != 1:
        raise click.UsageError("Name one table with the audit, or use --response-rate, --evidence.")
    for name in ("n", "n_column", "n_table", "time", "window", "every"):
        if values[name] is not None:
            raise OptionError(
                name,
                problem="{argument} does not apply to an audit",
                hint="Use it with {response_rate}",
            )
    target = _target(values["output"], files_of(words[0]))
    columns = ("item", "segment", "rating", "counts", "observed", "truth")
    layout = Layout(
        **{name: tuple(values[name] or ()) for name in columns},
        answered=values["answered"],
        population=values["population"],
    )
    found, scale = read_audit(
        words[0],
        layout,
        values["scale"],
        paired=not values["unpaired"],
        where=read_where(values),
        watch=lambda words, at: show_progress(words, at.fraction),
        note=lambda words: click.echo(f"Note: {words}", err=True),
        **pick(values, ("nulls", "off_scale", "rater", "duplicates")),
    )
    with show_progress("calibrating", lambda: None):
        audits = _audits(found, scale, values)
        documents = {name: build_audit_document(audit) for name, audit in audits.items()}
    document = documents[""] if not layout.segment else {"segments": documents}
    if target is not None:
        _write(target, layout, document, audits, [one.segment for one in found.values()])
    if values["json"]:
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        _show(audits, layout, target)


def _audits(found: dict[str, Audited], scale: Scale, values: Values) -> dict[str, Audit]:
    return {
        name: find_participation(
            one.observed,
            one.truth,
            paired=not values["unpaired"],
            scale=scale,
            level=values["level"],
        )
        for name, one in found.items()
    }


def _target(output: str | None, inputs: Any) -> Path | None:
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


def _write(
    target: Path,
    layout: Layout,
    document: dict[str, Any],
    audits: dict[str, Audit],
    segments: list[tuple[str, ...]],
) -> None:
    from unheard.tables.output.safe_cells import safe_cell
    from unheard.tables.output.write import beside

    text = json.dumps(document, ensure_ascii=False, indent=1)
    if target.suffix.lower() == ".csv":
        if not layout.segment:
            raise OptionError(
                "output",
                problem="A .csv file requires {segment}",
                value=str(target),
                hint="Write .json instead",
            )
        rows = io.StringIO()
        table = csv.writer(rows, lineterminator="\n")
        table.writerow([*map(safe_cell, layout.segment), "q", "q_lower", "quiet"])
        for segment, one in zip(segments, audits.values(), strict=True):
            table.writerow([*map(safe_cell, segment), one.q, one.q_lower, one.quiet])
        text = rows.getvalue()
    with beside(target) as fresh:
        fresh.write_text(text, encoding="utf-8")


def _show(audits: dict[str, Audit], layout: Layout, target: Path | None) -> None:
    for name, audit in audits.items():
        if layout.segment:
            show_lines([Text(f"{', '.join(layout.segment)}: {printable(name)}", "bold")])
        show_result(audit)
        show_lines([""])
    used = str(target) if target is not None else "audit.json"
    if target is None or target.suffix.lower() == ".json":
        segment = f"#{next(iter(audits))}" if layout.segment else ""
        first = "Use it" if target is not None else "Keep it: -o audit.json. Use it"
        advice = f"{first} wherever q is stated: --assumption {used}{segment}"
    else:
        advice = f"Use it as a table of q by segment: unheard rate ... --q-table {used}"
    show_lines([printable(advice)])


def _show_evidence(as_json: bool) -> None:
    if as_json:
        click.echo(
            json.dumps({"presets": PRESETS, "evidence": list_evidence()}, ensure_ascii=False)
        )
        return
    console = make_console()
    show_lines(write_evidence(make_page(console)), console)
