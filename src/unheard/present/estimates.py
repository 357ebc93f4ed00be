"""Estimates as text, documents and rows: histograms as bars, bounds drawn on the scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.text import Text

from unheard.formulas.bounds import average
from unheard.formulas.estimators import ESTIMATORS
from unheard.formulas.operations import NUMPY
from unheard.model.notes import NOTE_TEXTS
from unheard.model.question import Question
from unheard.model.results import Estimate, Estimates
from unheard.present.as_in_studies import estimate_as_in_studies, list_study_cells
from unheard.present.layout import Page, apart
from unheard.present.value_of_n import Contribution, contribution_of_n
from unheard.text import (
    count_text,
    percent_text,
    plural,
    range_text,
    rating_text,
    round_percentages,
    write_exactly,
)

NUMBERS = ("estimate", "lower", "upper", "ci_lower", "ci_upper")
"""The numbers of everything that has bounds."""

_MANY_RATINGS = 12
"""A longer scale is not spelled out."""

_LONGEST_TABLE = 10
"""How many rows a table in a repr or a notebook has."""


def assumption_document(question: Question) -> dict[str, Any]:
    """Return what is assumed, as every JSON document states it."""
    assumption = question.assumption
    stated: dict[str, Any] = {"kind": assumption.kind}
    if assumption.q is not None:
        stated["floor" if assumption.kind == "floor" else "q"] = assumption.q.tolist()
    if assumption.g:
        stated["g"] = list(assumption.g)
    if assumption.kind in ("box", "audit", "pool"):
        stated["participation"] = [list(p) for p in zip(assumption.lo, assumption.hi, strict=True)]
    if assumption.study is not None:
        stated["study"] = assumption.study.slug
    stated["words"] = question.words
    return stated


def estimate_document(question: Question, estimates: Sequence[Estimate]) -> dict[str, Any]:
    """Return the JSON document of one histogram, estimated by several methods."""
    counts = question.counts
    result: dict[str, Any] = {
        "scale": [tidy(v) for v in counts.scale.values],
        **_counts_document(question, 0),
        "assumption": assumption_document(question),
        "level": question.level,
        "covers": question.covers,
    }
    if counts.effective is not None:
        result["effective"] = float(counts.effective[0])
    if counts.weights is not None:
        result["squared_weights"] = counts.weights.squares[0].tolist()
        result["largest_weight"] = float(counts.weights.largest[0])
    if estimates and (added := contribution_of_n(question, estimates[0])) is not None:
        result["response"] = _response_document(question, added)
    result["estimates"] = [numbers_document(one) for one in estimates]
    if estimates:
        result["evidence"] = [asdict(one) for one in estimate_as_in_studies(question)]
    return result


def _counts_document(question: Question, row: int) -> dict[str, Any]:
    counts = question.counts
    return {
        "counts": [tidy(c) for c in counts.cells[row].tolist()],
        "n": None if counts.n is None else tidy(float(counts.n[row])),
        "n_ratings": tidy(float(counts.n_ratings[row])),
    }


def _response_document(question: Question, added: Contribution) -> dict[str, Any]:
    """Return what the number of people adds, and what it says about the assumption."""
    document: dict[str, Any] = {
        "rate": added.rate,
        "lower_without_n": added.lower,
        "upper_without_n": added.upper,
        "words": added.words,
    }
    response = question.assess_response()
    if response is not None:
        document["largest_floor"] = float(response.largest_floor[0])
        document["p_value"] = float(response.p_value[0])
    return document


def numbers_document(one: Estimate) -> dict[str, Any]:
    """Return the numbers of one estimate, without the question that it answers."""
    numbers = {name: getattr(one, name) for name in NUMBERS}
    known = {name: None if math.isnan(x) else x for name, x in numbers.items()}
    return {"method": one.method, **known, "notes": list(one.notes)}


def tidy(value: float) -> int | float:
    """Write whole numbers without a decimal point."""
    return int(value) if float(value).is_integer() else float(value)


def write_document(result: Estimate | Estimates) -> dict[str, Any]:
    """Return the JSON document of an estimate, or of many."""
    question = result.question
    if isinstance(result, Estimate):
        return estimate_document(question, [result])
    return {
        "scale": [tidy(v) for v in question.counts.scale.values],
        "assumption": assumption_document(question),
        "level": question.level,
        "covers": question.covers,
        "method": result.method,
        "rows": tabulate(result),
    }


def tabulate(result: Estimate | Estimates) -> list[dict[str, Any]]:
    """Return a row for each histogram: its size, its average, its estimate."""
    question = result.question
    sizes = (
        {name: size for name, size in _counts_document(question, row).items() if name != "counts"}
        for row in range(question.counts.rows)
    )
    return [
        {**size, "average": mean, **numbers_document(one)}
        for size, mean, one in zip(sizes, averages(question), _each(result), strict=True)
    ]


def averages(question: Question) -> list[float | None]:
    """Return the plain average of each histogram; None where nobody responded."""
    counts = question.counts
    columns = list(np.asarray(counts.cells.T, np.float64))
    with np.errstate(invalid="ignore"):
        means = average(columns, counts.scale.values, NUMPY)
    return [None if math.isnan(mean) else float(mean) for mean in means]


def _each(result: Estimate | Estimates) -> Sequence[Estimate]:
    return [result] if isinstance(result, Estimate) else list(result)


def headings(level: float | None) -> list[str]:
    """Return the headings of the numbers of an estimate."""
    return ["estimate", "bounds", *([] if level is None else [confidence_words(level)])]


def confidence_words(level: float | None) -> str:
    """Name the confidence interval, with its level if that is known."""
    return "confidence interval" if level is None else f"{percent_text(level)} confidence interval"


def number_cells(numbers: Sequence[float], width: float) -> list[str]:
    """Write an estimate, its bounds and its confidence interval, if it has one."""
    estimate, *ends = numbers
    pairs = [ends[:2]] + ([] if math.isnan(ends[2]) else [ends[2:]])
    return [rating_text(estimate, width), *(range_text(low, high, width) for low, high in pairs)]


def list_cells(result: Estimate | Estimates) -> list[list[str]]:
    """Return the numbers as a table; of many histograms, the first."""
    question = result.question
    table = [["", *headings(question.level), "notes"]]
    shown = (
        [result]
        if isinstance(result, Estimate)
        else [result[row] for row in range(min(len(result), _LONGEST_TABLE))]
    )
    for place, one in enumerate(shown):
        numbers = [getattr(one, name) for name in NUMBERS]
        name = one.method if one is result else str(place)
        cells = number_cells(numbers, question.counts.scale.width)
        table.append([name, *cells, " ".join(one.notes)])
    return table


def explain(result: Estimate | Estimates) -> Iterator[str]:
    """Yield what the numbers rest on: ratings, notes and the assumption."""
    question = result.question
    if isinstance(result, Estimate):
        (mean,) = averages(question)
        width = question.counts.scale.width
        seen = f"{_ratings_text(question)} on the scale {question.counts.scale.describe()}"
        yield f"{seen}, average {rating_text(mean, width)}."
    elif len(result) > _LONGEST_TABLE:
        yield f"{plural(len(result) - _LONGEST_TABLE, 'more row')}."
    shown = result.notes if isinstance(result, Estimate) else sum(result.notes[:_LONGEST_TABLE], ())
    yield from note_sentences(shown)
    yield f"Assumption: {question.words}"


def note_sentences(notes: Iterable[str]) -> list[str]:
    """Explain each of the notes once."""
    return [f"{note}: {NOTE_TEXTS[note]}." for note in dict.fromkeys(notes)]


def _ratings_text(question: Question) -> str:
    return plural(float(question.counts.n_ratings[0]), "rating")


def write_lines(result: Estimate | Estimates, page: Page) -> Iterator[Text]:
    """Write an estimate as the terminal shows it; of many, a table."""
    if isinstance(result, Estimate):
        return show_estimates([result], page)
    return describe_lines(result, page)


def describe_lines(result: Estimate | Estimates, page: Page) -> Iterator[Text]:
    """Write the table, and below it what it rests on."""
    cells = list_cells(result)
    yield from page.table(cells, "<" * len(cells[0]))
    for sentence in explain(result):
        yield from page.paragraph(sentence)


def show_estimates(estimates: Sequence[Estimate], page: Page) -> Iterator[Text]:
    """Write one histogram, estimated by several methods: bars, bounds on the scale, numbers."""
    screen = Screen(estimates[0].question, estimates, page)
    parts = (screen.size(), screen.histogram(), screen.drawing(), screen.messages())
    return apart(*parts, screen.numbers(), screen.conditions(), screen.studies())


class Screen:
    """The lines that show one histogram."""

    def __init__(
        self,
        question: Question,
        estimates: Sequence[Estimate],
        page: Page,
        labels: Sequence[str] | None = None,
    ) -> None:
        self.labels = [one.method for one in estimates] if labels is None else labels
        self.question, self.estimates, self.page, self.ink = question, estimates, page, page.ink
        self.counts, self.scale = question.counts, question.counts.scale
        (self.average,) = averages(question)
        self.notes = tuple(dict.fromkeys(note for one in estimates for note in one.notes))

    def size(self) -> Iterator[Text]:
        """Yield the number of ratings and of people."""
        ratings, n = _ratings_text(self.question), self.counts.n
        if self.counts.size is not None:
            ratings += f" (weighted; effective sample size {self.counts.size[0]:,.1f})"
        people = "an unknown number of people"
        if n is not None:
            people = plural(float(n[0]), "person", "people")
        yield Text.assemble((ratings, "bold"), f" from {people}")

    def histogram(self) -> Iterator[Text]:
        """Yield the counts as bars, best rating first; of a long scale only ratings given."""
        counts = self.counts.cells[0].tolist()
        labels = [write_exactly(value) for value in self.scale.values]
        total, largest = sum(counts), max(counts) or 1
        tenths = round_percentages([10 * count / (total or 1) for count in counts])
        shown = [count_text(count) for count in counts]
        width, count_width = (max(map(len, texts)) for texts in (labels, shown))
        bar_width = min(40, max(self.page.width - width - count_width - 12, 5))
        for label, count, text, tenth in list(zip(labels, counts, shown, tenths, strict=True))[
            ::-1
        ]:
            if count or len(counts) <= _MANY_RATINGS:
                bar = self._bar(count / largest, bar_width)
                yield Text.assemble(
                    f"  {label:>{width}} ",
                    (f"{bar:<{bar_width}}", "cyan"),
                    f" {text:>{count_width}}" + (f"{tenth / 10:>6.1f}%" if total else ""),
                )

    def drawing(self) -> Iterator[Text]:
        """Yield the scale, and below it the bounds of each estimate."""
        margin = max(map(len, self.labels)) + 4
        length = min(61, self.page.width - margin - len(write_exactly(self.scale.highest)))
        yield from self._axis(margin, length)
        ink = self.ink
        for label, one in zip(self.labels, self.estimates, strict=True):
            row = [(" ", "")] * length
            self._draw(row, one.ci_lower, one.ci_upper, (ink.thin, "yellow"))
            self._draw(row, one.lower, one.upper, (ink.thick, "green"))
            self._draw(row, self.average, self.average, (ink.average, "bold"))
            self._draw(row, one.estimate, one.estimate, (ink.estimate, "bold magenta"))
            yield Text.assemble(f"  {label:<{margin - 2}}", *row)
        marks = [(ink.estimate, "bold magenta", "estimate")]
        if self.average is not None:
            marks.append((ink.average, "bold", "average of respondents"))
        marks.append((ink.thick * 2, "green", "bounds"))
        if self.question.level is not None:
            marks.append((ink.thin * 2, "yellow", "confidence interval"))
        legend = Text("  ")
        for mark, style, words in marks:
            legend.append(mark, style).append(f" {words}   ")
        yield legend

    def note_lines(self) -> Iterator[Text]:
        """Yield what the notes mean."""
        for note in self.notes:
            methods = [one.method for one in self.estimates if note in one.notes]
            about = f"with {', '.join(methods)}, " if note == "outside_bounds" else ""
            yield from self.page.paragraph(
                f"{about}{NOTE_TEXTS[note]}.", "Note: ", "bold red", indent=2
            )

    def messages(self) -> Iterator[Text]:
        """Yield what to know before using the numbers."""
        yield from self.note_lines()
        response = self.question.assess_response()
        if response is not None and {"low_response", "high_response", "refuted"} & {*self.notes}:
            p_value = float(response.p_value[0])
            chance = f"{p_value:.2g}" if p_value > 1e-300 else "below 1e-300"
            words = (
                f"At this response rate the floor is at most {response.largest_floor[0]:.3g}; the "
                f"p-value of the assumption is {chance}."
            )
            if self.question.assumption.kind == "floor":
                words += " If you only know by how much participation varies, use q instead."
            yield from self.page.paragraph(words, "      ", indent=2)

    def numbers(self) -> Iterator[Text]:
        """Yield the numbers, and what each of them is."""
        if self.average is not None:
            yield self._fact("Average of respondents", self._number(self.average), "bold")
        for one in self.estimates:
            if one.method != "average":
                words = ESTIMATORS[one.method].words
                if one.method == "paa" and self.counts.n is None:
                    words = "middle of the bounds"
                number = self._number(one.estimate)
                yield self._fact(f"Estimate ({one.method})", number, "bold magenta", words)
        first, level = self.estimates[0], self.question.level
        bounds = self._range(first.lower, first.upper)
        yield self._fact("Bounds", bounds, "green", "all that the assumption allows")
        if level is not None:
            people = self.question.covers == "people"
            words = "for exactly these people" if people else "adds sampling error"
            if ESTIMATORS[first.method].limits is not None:
                words = "from errors on audited items"
            name = f"Confidence interval ({percent_text(level)})"
            yield self._fact(name, self._range(first.ci_lower, first.ci_upper), "yellow", words)

    def conditions(self) -> Iterator[Text]:
        """Yield the assumption, and what n adds to it."""
        yield from self.page.paragraph(self.question.words, "Assumption: ", indent=2)
        added = contribution_of_n(self.question, self.estimates[0])
        if added is not None:
            yield from self.page.paragraph(added.words, "What n adds: ", indent=2)

    def studies(self) -> Iterator[Text]:
        """Yield what the estimate would be with q as in some studies."""
        found = estimate_as_in_studies(self.question)
        if found:
            cells = list_study_cells(found, self.scale.width)
            yield from self.page.table(cells, "<><<<", indent=2)

    def _number(self, value: float | None) -> str:
        return rating_text(value, self.scale.width)

    def _range(self, low: float, high: float) -> str:
        return range_text(low, high, self.scale.width)

    def _fact(self, name: str, number: str, style: str, words: str = "") -> Text:
        line = Text.assemble(f"  {name:<29}  ", (f"{number:<12}", style))
        # A narrow screen keeps the numbers and does without the explanation.
        if words and len(line) + len(words) + 3 <= self.page.width:
            line.append(f"   {words}")
        line.rstrip()
        return line

    def _draw(
        self,
        row: list[tuple[str, str]],
        low: float | None,
        high: float | None,
        mark: tuple[str, str],
    ) -> None:
        """Write a mark into a row from one value of the scale to another, if there are any."""
        if low is None or high is None or math.isnan(low):
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
