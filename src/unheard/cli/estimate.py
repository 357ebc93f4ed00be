"""``unheard estimate``: one histogram."""

from __future__ import annotations

import json
from typing import Any

import click

from unheard.cli.options import (
    assumption_options,
    covers_option,
    json_option,
    level_option,
    number,
    one_of,
    read_counts,
    read_level,
    scale_option,
    stated_assumption,
)
from unheard.core.aggregators import AGGREGATORS
from unheard.core.estimate import Estimate, Inquiry, inquire
from unheard.errors import PopulationError


@click.command(
    # A negative count looks like an option; read_counts tells the two apart.
    context_settings={"ignore_unknown_options": True},
)
@click.argument("counts", nargs=-1)
@assumption_options
@click.option("--n", metavar="N", help="How many people there are, silent ones included.")
@scale_option
@click.option(
    "--method",
    metavar="|".join((*AGGREGATORS, "all")),
    shell_complete=one_of(*AGGREGATORS, "all"),
    help="Which estimate, or all that apply. By default pooled for an --assumption from ten "
    "items or more, reweight for a smaller one and for --g, otherwise midpoint with --n and paa "
    "without it. " + "; ".join(f"{one.name}: {one.words}" for one in AGGREGATORS.values()) + ".",
)
@level_option
@covers_option
@click.option(
    "--effective",
    metavar="SIZE",
    help="The counts are sums of survey weights, with this effective sample size: (sum of "
    "weights)^2 / (sum of squared weights).",
)
@json_option
def estimate(
    counts: tuple[str, ...],
    n: str | None,
    method: str | None,
    level: str,
    covers: str,
    effective: str | None,
    as_json: bool,
    **assumption: Any,
) -> None:
    """Estimate the rating behind COUNTS: how often each rating was given, lowest first.

    \b
    Examples:
      unheard estimate 120 30 45 200 605 --q 0.3
      unheard estimate 120 30 45 200 605 --q 0.3 --n 2400 --method all
      unheard estimate 2 1 0 3 6 --q 0.3 --quiet low --json
    """
    question = inquire(
        read_counts(counts),
        **stated_assumption(assumption),
        n=None if n is None else number(n, "--n", PopulationError),
        level=read_level(level),
        covers=covers,
        effective=None if effective is None else number(effective, "--effective", PopulationError),
    )
    chosen = method or question.default_method()
    found = question.answer(question.methods() if chosen == "all" else [chosen])
    if as_json:
        click.echo(json.dumps(document(question, found)))
    else:
        from unheard.cli.screen import show_estimate

        show_estimate(question, found)


def assumption_document(question: Inquiry) -> dict[str, Any]:
    """Return what is assumed, as every JSON document states it."""
    assumption = question.assumption
    stated: dict[str, Any] = {"kind": assumption.kind}
    if assumption.q is not None:
        stated["q"] = float(assumption.q)
    if assumption.g:
        stated["g"] = list(assumption.g)
    if assumption.kind in ("box", "audit", "pool"):
        stated["participation"] = [list(p) for p in zip(assumption.lo, assumption.hi, strict=True)]
    stated["words"] = question.words
    return stated


def document(question: Inquiry, found: list[Estimate]) -> dict[str, Any]:
    """Return the JSON document of one histogram."""
    counts = question.counts
    result: dict[str, Any] = {
        "scale": [tidy(v) for v in counts.scale.values],
        "counts": [tidy(c) for c in counts.cells[0].tolist()],
        "n": None if counts.n is None else tidy(float(counts.n[0])),
        "n_ratings": tidy(float(counts.n_ratings[0])),
        "assumption": assumption_document(question),
        "level": question.level,
        "covers": question.covers,
    }
    if counts.effective is not None:
        result["effective"] = float(counts.effective[0])
    response = question.response()
    if response is not None:
        result["response"] = {
            "rate": float(response.rate[0]),
            "q_allowed": float(response.q_allowed[0]),
            "p_value": float(response.p_value[0]),
        }
    result["estimates"] = [
        {
            "method": one.method,
            "estimate": one.estimate,
            "lower": one.lower,
            "upper": one.upper,
            "ci_lower": one.ci_lower,
            "ci_upper": one.ci_upper,
            "flags": list(one.flags),
        }
        for one in found
    ]
    return result


def tidy(value: float) -> int | float:
    """Write whole numbers without a decimal point."""
    return int(value) if float(value).is_integer() else float(value)
