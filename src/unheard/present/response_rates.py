"""Response rates as text, documents and rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from unheard.analysis.response_rates import ResponseRates
from unheard.present.layout import Page, apart
from unheard.text import name_of, percent_text, plural

_LONGEST_TABLE = 20


def write_document(rates: ResponseRates) -> dict[str, Any]:
    """Return the JSON document of response rates."""
    return {"drift_p": rates.drift_p, "rows": tabulate(rates)}


def tabulate(rates: ResponseRates) -> list[dict[str, Any]]:
    """Return a row for each item or window."""
    return [
        {name: labels[row] for name, labels in rates.labels.items()}
        | {
            "n_ratings": int(rates.n_ratings[row]),
            "n": int(rates.n[row]),
            "rate": float(rates.rate[row]),
            "largest_floor": float(rates.largest_floor[row]),
        }
        for row in range(len(rates.rate))
    ]


def list_cells(rates: ResponseRates) -> list[list[str]]:
    """Return the first rows as a table."""
    table = [[*rates.labels, "responses", "people", "response rate", "largest floor"]]
    for row in tabulate(rates)[:_LONGEST_TABLE]:
        labels = [name_of(row[name]) for name in rates.labels]
        sizes = [f"{row['n_ratings']:,}", f"{row['n']:,}"]
        table.append([*labels, *sizes, f"{row['rate']:.1%}", f"{row['largest_floor']:.3f}"])
    return table


def explain(rates: ResponseRates) -> Iterator[str]:
    """Yield what the rates rule out, and whether they differ."""
    yield from _count_more(rates, "to_frame()")
    yield from _list_findings(rates)


def _count_more(rates: ResponseRates, whole: str) -> Iterator[str]:
    more = len(rates.rate) - _LONGEST_TABLE
    if more > 0:
        yield f"{plural(more, 'more row')}; {whole} has all."


def _list_findings(rates: ResponseRates) -> Iterator[str]:
    if len(rates.rate) > 1:
        differ = "do not differ significantly" if rates.drift_p >= 0.05 else "differ"
        p = "p < 0.001" if rates.drift_p < 0.001 else f"p = {rates.drift_p:.2g}"
        yield f"The response rates {differ} ({p})."
    yield (
        "The people who respond least often do so no more often than people do on average, so with "
        f"{percent_text(rates.level)} confidence the floor is at most the largest floor. The "
        "response rate does not bound q, the ratio between those who respond least and most often; "
        "that requires an audit."
    )


def write_lines(rates: ResponseRates, page: Page) -> Iterator[Text]:
    """Write response rates as the terminal shows them."""
    sentences = (*_count_more(rates, "--json"), *_list_findings(rates))
    words = [line for sentence in sentences for line in page.paragraph(sentence)]
    return apart(page.table(list_cells(rates), "<" * len(rates.labels) + ">>>>"), words)
