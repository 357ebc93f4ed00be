"""What people see in a terminal: histograms as bars, intervals drawn on the scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from rich.console import Console
from rich.text import Text

from unheard.cli.layout import paragraph
from unheard.formulas.estimators import ESTIMATORS
from unheard.model.notes import NOTE_TEXTS
from unheard.model.question import Question
from unheard.model.results import Estimate
from unheard.present.value_of_n import contribution_of_n
from unheard.text import rating_text, write_exactly

_WIDEST, _NARROWEST = 80, 30
_MANY_RATINGS = 12


class Terminal(Console):
    """A console that breaks no line of a drawing, and stops quietly when nobody reads on."""

    def on_broken_pipe(self) -> NoReturn:
        """Let the command end as it sees fit."""
        raise BrokenPipeError


def make_console() -> Terminal:
    """Return the console that everything is shown on."""
    console = Terminal(highlight=False, soft_wrap=True)
    console.width = max(console.width, _NARROWEST)
    return console


def text_width(console: Console) -> int:
    """Return how wide a screen to fill: the terminal's, within reason."""
    return min(console.width, _WIDEST)


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


_FINE = Ink("█", " ▏▎▍▌▋▊▉", "─", "┼", "╌", "━", "●", "◇")
_PLAIN = Ink("#", "        ", "-", "+", "-", "=", "o", "x")


def can_show(console: Console, characters: str) -> bool:
    """Say whether a terminal knows some characters."""
    try:
        characters.encode(console.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def ink_for(console: Console) -> Ink:
    """Return fine characters where the terminal can show them, plain ones elsewhere."""
    return _FINE if can_show(console, "".join(vars(_FINE).values())) else _PLAIN


def show_estimate(question: Question, found: Sequence[Estimate]) -> None:
    """Show one histogram: its bars, the intervals on the scale, the numbers in words."""
    console = make_console()
    screen = Screen(question, found, text_width(console), ink_for(console))
    parts = (screen.histogram(), screen.drawing(), screen.messages(), screen.summary())
    console.print(screen.size())
    for part in parts:
        lines = list(part)
        if lines:
            console.print()
        for line in lines:
            console.print(stripped(line))


def stripped(line: Text) -> Text:
    """Take blanks off the end of a line."""
    line.rstrip()
    return line


class Screen:
    """The lines that show one histogram."""

    def __init__(self, question: Question, found: Sequence[Estimate], width: int, ink: Ink) -> None:
        self.question, self.found, self.width, self.ink = question, found, width, ink
        self.counts, self.scale = question.counts, question.counts.scale
        rated = bool(self.counts.n_ratings[0])
        self.average = question.answer(["average"])[0].estimate if rated else None
        self.notes = tuple(dict.fromkeys(flag for one in found for flag in one.notes))

    def size(self) -> Text:
        """How many ratings, from how many people."""
        ratings = _plural(float(self.counts.n_ratings[0]), "rating", "ratings")
        if self.counts.size is not None:
            ratings += f" (weighted; effective size {self.counts.size[0]:,.1f})"
        whom = "an unknown number of people"
        if self.counts.n is not None:
            whom = _plural(float(self.counts.n[0]), "person", "people")
        return Text.assemble((ratings, "bold"), f", from {whom}")

    def histogram(self) -> Iterable[Text]:
        """Yield the counts as bars, best rating first; of a long scale only ratings given."""
        counts = self.counts.cells[0].tolist()
        labels = [write_exactly(value) for value in self.scale.values]
        total, largest = sum(counts), max(counts) or 1
        width = max(len(label) for label in labels)
        shown = [_count(count) for count in counts]
        count_width = max(len(text) for text in shown)
        bar_width = min(40, max(self.width - width - count_width - 12, 5))
        for label, count, text in reversed(list(zip(labels, counts, shown, strict=True))):
            if count or len(counts) <= _MANY_RATINGS:
                share = f"{count / total:>7.1%}" if total else ""
                bar = self._bar(count / largest, bar_width)
                yield Text.assemble(
                    f"  {label:>{width}} ",
                    (f"{bar:<{bar_width}}", "cyan"),
                    f" {text:>{count_width}}{share}",
                )

    def drawing(self) -> Iterable[Text]:
        """Yield the scale, and below it each interval with its estimate."""
        margin = max(len(one.method) for one in self.found) + 4
        length = min(61, self.width - margin - len(write_exactly(self.scale.highest)))
        yield from self._axis(margin, length)
        ink = self.ink
        for one in self.found:
            row = [(" ", "")] * length
            self._draw(row, one.ci_lower, one.ci_upper, (ink.thin, "yellow"))
            self._draw(row, one.lower, one.upper, (ink.thick, "green"))
            self._draw(row, self.average, self.average, (ink.average, "bold"))
            self._draw(row, one.estimate, one.estimate, (ink.estimate, "bold magenta"))
            yield Text.assemble(f"  {one.method:<{margin - 2}}", *row)
        marks = [
            (ink.estimate, "bold magenta", "estimate"),
            (ink.average, "bold", "average seen"),
            (ink.thick * 2, "green", "interval"),
            (ink.thin * 2, "yellow", "with noise"),
        ]
        if self.average is None:
            del marks[1]
        legend = Text("  ")
        for mark, style, words in marks:
            legend.append(mark, style).append(f" {words}   ")
        yield legend

    def note_lines(self) -> Iterable[Text]:
        """Yield what the notes mean."""
        for flag in self.notes:
            who = [one.method for one in self.found if flag in one.notes]
            about = f" ({', '.join(who)})" if flag == "outside_bounds" else ""
            yield from self._paragraph("Note: ", "bold red", f"{NOTE_TEXTS[flag]}{about}.")

    def messages(self) -> Iterable[Text]:
        """Yield what must be known before using the numbers."""
        yield from self.note_lines()
        response = self.question.assess_response()
        if response is not None and {"low_response", "high_response", "refuted"} & {*self.notes}:
            p_value = float(response.p_value[0])
            chance = f"{p_value:.2g}" if p_value > 1e-300 else "below 1e-300"
            words = (
                f"At that response rate a floor can be {response.largest_floor[0]:.3g} at the "
                f"most; the p-value of the assumption is {chance}."
            )
            if self.question.assumption.kind == "floor":
                words += " If you only know by how much participation varies, state --q instead."
            yield from self._paragraph("      ", "", words)

    def summary(self) -> Iterable[Text]:
        """Yield the numbers and what they mean, in words."""
        if self.average is not None:
            yield self._fact("Average of those who answered", self._number(self.average), "bold")
        for one in self.found:
            if one.method != "average":
                name = f"Estimate ({one.method})"
                words = ESTIMATORS[one.method].words
                yield self._fact(name, self._number(one.estimate), "bold magenta", words)
        first, level = self.found[0], self.question.level
        words = "everything the assumption allows"
        yield self._fact("Bounds", self._range(first.lower, first.upper), "green", words)
        if level is not None:
            name = f"Confidence interval ({level * 100:.6g}%)"
            people = self.question.covers == "people"
            words = "with noise, these people only" if people else "with sampling noise"
            if ESTIMATORS[first.method].limits is not None:
                words = "by errors on audited items"
            yield self._fact(name, self._range(first.ci_lower, first.ci_upper), "yellow", words)
        yield Text("")
        yield from self._paragraph("Assumption: ", "bold", self.question.words)
        added = contribution_of_n(self.question, self.found[0])
        if added is not None:
            yield from self._paragraph("What n adds: ", "bold", added.words)

    def _number(self, value: Any) -> str:
        return rating_text(value, self.scale.width)

    def _range(self, low: Any, high: Any) -> str:
        return f"{self._number(low)} to {self._number(high)}"

    def _fact(self, name: str, number: str, style: str, words: str = "") -> Text:
        line = Text.assemble(f"  {name:<29}  ", (f"{number:<12}", style))
        # A narrow screen keeps the numbers and does without the explanation.
        if words and len(line) + len(words) + 3 <= self.width:
            line.append(f"   {words}")
        return line

    def _paragraph(self, label: str, style: str, words: str) -> Iterable[Text]:
        """Wrap sentences behind their label."""
        first, *rest = paragraph(words, self.width, label)
        yield Text.assemble("  ", (label, style), first[2 + len(label) :])
        yield from map(Text, rest)

    def _draw(self, row: list[tuple[str, str]], low: Any, high: Any, mark: tuple[str, str]) -> None:
        """Write a mark into a row from one value of the scale to another, if there are any."""
        if low is None:
            return
        first, final = (self._place(float(value), len(row)) for value in (low, high))
        for place in range(first, final + 1):
            row[place] = mark

    def _place(self, value: float, length: int) -> int:
        share = (value - self.scale.lowest) / self.scale.width
        # A spectral estimate may lie off the scale; it is drawn at its end.
        return min(max(round(share * (length - 1)), 0), length - 1)

    def _axis(self, margin: int, length: int) -> Iterable[Text]:
        labels, line = [" "] * (length + 12), [self.ink.line] * length
        free_from, end = 0, length - 1
        for value in self._ticks():
            place, text = self._place(value, length), write_exactly(value)
            line[place] = self.ink.tick
            fits = place == end or place + len(text) < end
            if place >= free_from and fits:
                labels[place : place + len(text)] = text
                free_from = place + len(text) + 1
        yield Text(" " * margin + "".join(labels).rstrip())
        yield Text(" " * margin + "".join(line), "dim")

    def _ticks(self) -> Sequence[float]:
        """Return the values of the scale; of a long one, round numbers between its ends."""
        if self.scale.m <= _MANY_RATINGS:
            return self.scale.values
        rough = self.scale.width / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next(k for k in (1, 2, 5, 10) if k * power >= rough)
        first = math.ceil(self.scale.lowest / step)
        inner = range(first, math.floor(self.scale.highest / step) + 1)
        return sorted({self.scale.lowest, *(k * step for k in inner), self.scale.highest})

    def _bar(self, share: float, width: int) -> str:
        eighths = round(share * width * 8)
        bar = self.ink.full * (eighths // 8) + self.ink.eighths[eighths % 8].strip()
        # Somebody is never shown as nobody.
        return bar or (self.ink.eighths[1].strip() or self.ink.full if share > 0 else "")


def _count(value: float) -> str:
    """Write a count: whole numbers with separators, sums of weights with two decimals."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def _plural(value: float, one: str, many: str) -> str:
    return f"{_count(value)} {one if value == 1 else many}"
