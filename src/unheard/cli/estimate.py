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
    one_of,
    read_counts,
    read_level,
    scale_option,
    stated_assumption,
)
from unheard.errors import CountsError, PopulationError
from unheard.formulas.estimators import ESTIMATORS
from unheard.model.parsing import number
from unheard.model.question import build_question
from unheard.present.estimate_json import estimate_document


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
    metavar="|".join((*ESTIMATORS, "all")),
    shell_complete=one_of(*ESTIMATORS, "all"),
    help="Which estimate, or all that apply. By default pooled for an --assumption from ten "
    "items or more, reweight for a smaller one and for --g, otherwise midpoint with --n and paa "
    "without it. " + "; ".join(f"{one.name}: {one.words}" for one in ESTIMATORS.values()) + ".",
)
@level_option
@covers_option
@click.option(
    "--effective",
    metavar="SIZE",
    help="The counts are sums of survey weights, with this effective sample size: (sum of "
    "weights)^2 / (sum of squared weights). It takes weights to be unrelated to the rating.",
)
@click.option(
    "--squared-weights",
    metavar="S1,S2,...",
    help="The counts are sums of survey weights, and these the sums of their squares, rating by "
    "rating; with --largest-weight. Weights may go with the rating.",
)
@click.option(
    "--largest-weight",
    metavar="W",
    help="The largest weight that any rating could have; with --squared-weights.",
)
@json_option
def estimate(
    counts: tuple[str, ...],
    n: str | None,
    method: str | None,
    level: str,
    covers: str,
    effective: str | None,
    squared_weights: str | None,
    largest_weight: str | None,
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
    question = build_question(
        read_counts(counts),
        **stated_assumption(assumption),
        n=None if n is None else number(n, "--n", PopulationError),
        level=read_level(level),
        covers=covers,
        effective=None if effective is None else number(effective, "--effective", PopulationError),
        squared_weights=None
        if squared_weights is None
        else [number(one, "--squared-weights", CountsError) for one in squared_weights.split(",")],
        largest_weight=None
        if largest_weight is None
        else number(largest_weight, "--largest-weight", PopulationError),
    )
    chosen = method or question.default_method()
    found = question.answer(question.methods() if chosen == "all" else [chosen])
    if as_json:
        click.echo(json.dumps(estimate_document(question, found)))
    else:
        from unheard.cli.estimate_screen import show_estimate

        show_estimate(question, found)
