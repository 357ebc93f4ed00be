"""`unheard counts`: the counts of each item, shown, written, or added to those that are kept."""

from __future__ import annotations

import click
from click.core import ParameterSource

from unheard.cli.console import show
from unheard.cli.messages import show_message
from unheard.cli.options import Values, takes_options
from unheard.cli.rate import answer
from unheard.cli.table_result import Shown
from unheard.cli.tables import read_table_options, read_where
from unheard.errors import OptionError

_WRITTEN = ("output", "to_table")


@click.command()
@click.argument("source")
@takes_options("counts")
def counts(values: Values, source: str) -> None:
    """Count the ratings of every item, or add them to kept counts.

    Counts add up, and are all that rating needs. With --into, each batch of rows is added exactly
    once to the counts in a file or a table, which unheard rate reads without further options.

    SOURCE is as in unheard rate. With --into, each file of a glob is a batch.

    \b
    Examples:
      unheard counts stays.csv --item hotel --rating stars
      unheard counts stays.csv --item hotel --rating stars -o counts.csv
      unheard counts stays.csv --item hotel --rating stars --into counts.parquet
      unheard rate counts.parquet --q 0.3
    """
    if values["into"] is not None:
        _add(source, values)
        return
    if values["batch"] is not None:
        raise OptionError("batch", problem="{argument} requires {into}", hint="Give both")
    from unheard.tables.pipeline import read_request

    options = read_table_options(source, values) | {"q": 1.0, "level": None, "ranks": False}
    answer(source, values, read_request(**options, only_counts=True), Shown)


def _add(source: str, values: Values) -> None:
    from unheard.cli.progress import show_progress
    from unheard.tables.kept.add import add_batches
    from unheard.tables.pipeline import REQUEST_OPTIONS

    for name in _WRITTEN:
        if values[name] is not None:
            raise OptionError(
                name,
                problem="{argument} and {into} cannot be combined",
                hint="Add the counts first, then write what is kept",
            )
    context = click.get_current_context()
    typed = {
        name: values[name]
        for name in REQUEST_OPTIONS
        if name in values and context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    found = add_batches(
        source,
        values["into"],
        values["batch"],
        typed,
        read_where(values),
        lambda words, at: show_progress(words, at.fraction),
    )
    show(found, values["json"])
    for words in found.messages:
        show_message(f"Note: {words}")
