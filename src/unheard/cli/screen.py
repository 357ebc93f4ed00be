"""What people see in a terminal: histograms as bars, intervals drawn on the scale."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from unheard.core.estimate import FLAG_WORDS, Estimate, Inquiry
from unheard.core.scale import Scale

_BAR_WIDTH = 40
_AXIS_WIDTH = 61
_TEXT_WIDTH = 78


@dataclass(frozen=True)
class Ink:
    """Characters to draw with."""

    full: str
    eighths: str
    line: str
    tick: str
    thin: str
    thick: str
    estimate: str
    average: str


_RICH = Ink("█", " ▏▎▍▌▋▊▉", "─", "┼", "╌", "━", "●", "◇")
_PLAIN = Ink("#", "        ", "-", "+", "-", "=", "o", "x")


def make_console(stderr: bool = False) -> Console:
    """Return a console that breaks no line of a drawing."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def ink_for(console: Console) -> Ink:
    """Return fine characters where the terminal can show them, plain ones elsewhere."""
    try:
        "".join(vars(_RICH).values()).encode(console.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return _PLAIN
    return _RICH


def show_estimate(question: Inquiry, found: Sequence[Estimate]) -> None:
    """Show one histogram: its bars, the estimates, the intervals on the scale."""
    console = make_console()
    ink = ink_for(console)
    console.print(_size_line(question))
    console.print()
    for line in histogram(question, ink):
        console.print(line)
    console.print()
    for line in drawing(question, found, ink):
        console.print(line)
    console.print()
    for line in summary(question, found):
        console.print(line)
    for line in warnings(question, found):
        console.print(line)


def histogram(question: Inquiry, ink: Ink) -> list[Text]:
    """Return the counts as bars, best rating first."""
    counts = question.counts.cells[0].tolist()
    labels = [f"{value:g}" for value in question.counts.scale.values]
    total, largest = sum(counts), max(counts) or 1
    width = max(len(label) for label in labels)
    shown = [number_words(count) for count in counts]
    count_width = max(len(text) for text in shown)
    lines = []
    for label, count, text in reversed(list(zip(labels, counts, shown, strict=True))):
        share = f"{count / total:>7.1%}" if total else ""
        bar = _bar(count / largest, ink)
        lines.append(
            Text.assemble(
                f"  {label:>{width}} ",
                (f"{bar:<{_BAR_WIDTH}}", "cyan"),
                f" {text:>{count_width}}{share}",
            )
        )
    return lines


def drawing(question: Inquiry, found: Sequence[Estimate], ink: Ink) -> list[Text]:
    """Return the scale, and below it each interval with its estimate."""
    scale = question.counts.scale
    margin = max(len(one.method) for one in found) + 4
    lines = _axis(scale.values, margin, ink)
    mean = _average(question)
    for one in found:
        row = [(" ", "")] * _AXIS_WIDTH
        if one.ci_lower is not None:
            _draw(row, scale, (one.ci_lower, one.ci_upper), (ink.thin, "yellow"))
        _draw(row, scale, (one.lower, one.upper), (ink.thick, "green"))
        if mean is not None:
            _draw(row, scale, (mean, mean), (ink.average, "bold"))
        _draw(row, scale, (one.estimate, one.estimate), (ink.estimate, "bold magenta"))
        line = Text.assemble(f"  {one.method:<{margin - 2}}", *row)
        line.rstrip()
        lines.append(line)
    legend = Text.assemble(
        " " * margin,
        (ink.estimate, "bold magenta"),
        " estimate  ",
        (ink.average, "bold"),
        " average of those who answered  ",
        (ink.thick * 2, "green"),
        " interval  ",
        (ink.thin * 2, "yellow"),
        " with noise",
    )
    return [*lines, legend]


def summary(question: Inquiry, found: Sequence[Estimate]) -> list[Text]:
    """Return the numbers and what they mean, in words."""
    lines = []
    mean = _average(question)
    if mean is not None:
        lines.append(Text.assemble("  Average of those who answered  ", (f"{mean:.2f}", "bold")))
    lines += [
        Text.assemble(
            f"  {'Estimate (' + one.method + ')':<29}  ", (f"{one.estimate:.2f}", "bold magenta")
        )
        for one in found
        if one.method != "average"
    ]
    first = found[0]
    lines.append(
        Text.assemble(
            f"  {'Interval':<29}  ",
            (f"{first.lower:.2f} to {first.upper:.2f}", "green"),
            "   everything the assumption allows",
        )
    )
    if first.ci_lower is not None and question.level is not None:
        whose = ", for these people" if question.covers == "people" else ""
        name = f"Confidence interval ({question.level * 100:.3g}%)"
        lines.append(
            Text.assemble(
                f"  {name:<29}  ",
                (f"{first.ci_lower:.2f} to {first.ci_upper:.2f}", "yellow"),
                f"   with sampling noise{whose}",
            )
        )
    return [*lines, Text(""), *_paragraph("Assumption: ", "bold", question.words)]


def warnings(question: Inquiry, found: Sequence[Estimate]) -> list[Text]:
    """Return what must be known before using the numbers."""
    lines = []
    for flag in dict.fromkeys(flag for one in found for flag in one.flags):
        who = [one.method for one in found if flag in one.flags]
        about = f" ({', '.join(who)})" if flag == "outside_interval" else ""
        lines += _paragraph("Note: ", "bold red", f"{FLAG_WORDS[flag]}{about}.")
    response = question.response()
    if response is not None and any("response" in f or f == "refuted" for f in found[0].flags):
        words = (
            f"{response.rate[0]:.1%} of the people answered. The test of the response rate allows "
            f"a q up to {response.q_allowed[0]:.3f}; the p-value of the assumption stated is "
            f"{response.p_value[0]:.2g}."
        )
        lines += _paragraph("      ", "", words)
    return lines


def number_words(value: float) -> str:
    """Write a count: whole numbers with separators, sums of weights with two decimals."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def _paragraph(label: str, style: str, words: str) -> list[Text]:
    """Wrap a sentence behind its label, so that it can be read on a narrow screen."""
    first, *rest = textwrap.wrap(words, _TEXT_WIDTH - len(label))
    return [
        Text.assemble("  ", (label, style), first),
        *(Text(" " * (len(label) + 2) + line) for line in rest),
    ]


def _size_line(question: Inquiry) -> Text:
    counts = question.counts
    ratings = f"{number_words(float(counts.n_ratings[0]))} ratings"
    if counts.effective is not None:
        ratings += f" (weighted; effective size {counts.effective[0]:,.1f})"
    if counts.n is None:
        return Text.assemble((ratings, "bold"), ", from an unknown number of people")
    return Text.assemble((ratings, "bold"), f", from {number_words(float(counts.n[0]))} people")


def _average(question: Inquiry) -> Any:
    """Return the average of those who answered; None if nobody did."""
    return question.answer(["average"])[0].estimate if question.counts.n_ratings[0] else None


def _draw(
    row: list[tuple[str, str]], scale: Scale, ends: tuple[Any, Any], mark: tuple[str, str]
) -> None:
    """Write a mark into a row from one value of the scale to another."""
    last = len(row) - 1
    # A spectral estimate may lie off the scale; it is drawn at its end.
    first, final = (
        min(max(round((float(x) - scale.lowest) / scale.width * last), 0), last) for x in ends
    )
    for place in range(first, final + 1):
        row[place] = mark


def _bar(share: float, ink: Ink) -> str:
    eighths = round(share * _BAR_WIDTH * 8)
    bar = ink.full * (eighths // 8) + ink.eighths[eighths % 8].strip()
    # Somebody is never shown as nobody.
    return bar or (ink.eighths[1].strip() or ink.full if share > 0 else "")


def _axis(values: Sequence[float], margin: int, ink: Ink) -> list[Text]:
    places = [round((v - values[0]) / (values[-1] - values[0]) * (_AXIS_WIDTH - 1)) for v in values]
    labels, line = [" "] * (_AXIS_WIDTH + 8), [ink.line] * _AXIS_WIDTH
    free_from = 0
    for index, (value, place) in enumerate(zip(values, places, strict=True)):
        line[place] = ink.tick
        text = f"{value:g}"
        last = index == len(values) - 1
        room = last or place + len(text) + 1 <= places[-1]
        if place >= free_from and room:
            labels[place : place + len(text)] = text
            free_from = place + len(text) + 1
    return [
        Text(" " * margin + "".join(labels).rstrip()),
        Text(" " * margin + "".join(line), "dim"),
    ]
