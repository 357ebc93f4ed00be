"""The settings of kept counts: what was counted and how, so that every batch is counted alike."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from unheard.errors import OptionError, SourceError
from unheard.model.labels import LabelMap, read_labels
from unheard.model.scale import Scale
from unheard.tables.request import Request, read_names
from unheard.text import write_exactly

_ON_BAD_ROWS, _REFUSE = ("nulls", "off_scale"), "refuse"
"""What says what to do with bad rows: where they were refused there are none, whatever it says."""


@dataclass(frozen=True)
class CountSettings:
    """What was counted, and how.

    Attributes
    ----------
    item, rating, counts
        The columns of the tables that were counted.
    scale
        The values that a rating may take.
    labels
        What ratings that are words stand for; empty for none.
    frequency
        The column that says how many ratings a row stands for; None if each is one.
    time, window
        The column with dates, and the length of windows; None for no windows.
    nulls, off_scale
        What was done with rows that have no rating, or one off the scale; ``refuse`` where there
        were none.
    """

    item: tuple[str, ...]
    rating: tuple[str, ...]
    counts: tuple[str, ...]
    scale: tuple[float, ...]
    labels: Mapping[str, float | None]
    frequency: str | None
    time: str | None
    window: str | None
    nulls: str
    off_scale: str

    @classmethod
    def of(cls, request: Request) -> CountSettings:
        """Take the settings from a request; raise if such counts do not add up."""
        _check_additive(request)
        return cls(
            request.item,
            request.rating,
            request.counts,
            request.scale.values,
            {} if request.labels is None else dict(request.labels.values),
            request.frequency,
            None if request.window is None else request.time,
            None if request.window is None else request.window.step.write(),
            request.nulls,
            request.off_scale,
        )

    @classmethod
    def read(cls, text: str) -> CountSettings:
        """Read what :meth:`write` has written."""
        try:
            found = json.loads(text)
            lists = {name: tuple(value) for name, value in found.items() if isinstance(value, list)}
            return cls(**found | lists)
        except (AttributeError, TypeError, ValueError):
            raise SourceError(
                "source",
                problem="These kept counts were not written by this version of unheard",
                hint="Use the version that made them, or count the tables again",
            ) from None

    def write(self) -> str:
        """Write the settings as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def options(self) -> dict[str, Any]:
        """Return the settings as the options that they were given as."""
        return asdict(self) | {
            "rating": self.rating or None,
            "counts": self.counts or None,
            "scale": Scale(self.scale),
            "labels": self.words if self.labels else None,
        }

    @property
    def words(self) -> LabelMap:
        """What words stand for."""
        return LabelMap(self.labels, Scale(self.scale))

    def add(self, other: CountSettings) -> CountSettings:
        """Return the settings of these batches and of further ones that were counted alike."""
        met = {
            name: getattr(other if getattr(self, name) == _REFUSE else self, name)
            for name in _ON_BAD_ROWS
        }
        return replace(self, labels=dict(self.words.add(other.words).values), **met)

    def complete(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Add to the options of a further batch the settings that they leave out."""
        given = {name: value for name, value in options.items() if value is not None}
        kept = self.options()
        if "rating" in given or "counts" in given:
            kept |= {"rating": None, "counts": None}
        if "counts" in given:
            kept |= {"labels": None, "frequency": None}
        elif "labels" in given:
            words = read_labels(given["labels"], Scale.read(given.get("scale", kept["scale"])))
            given["labels"] = None if words is None else words.add(self.words)
        return {**options, **kept, **given}

    def check_same(self, other: CountSettings, into: str) -> None:
        """Raise if a batch would be counted with other settings than these."""
        ours, theirs = _describe(other), _describe(self)
        for name in ours:
            agree = name in _ON_BAD_ROWS and _REFUSE in (ours[name], theirs[name])
            if ours[name] != theirs[name] and not agree:
                raise OptionError(
                    name,
                    problem="{argument} is {ours} here, and {theirs} in the counts in {kept}",
                    hint="Leave {argument} out to count as before, or keep these counts elsewhere",
                    code="other_settings",
                    ours=ours[name],
                    theirs=theirs[name],
                    kept=into,
                )
        word = self.words.find_conflict(other.words)
        if word is not None:
            raise OptionError(
                "labels",
                problem="{argument} says that {word} is {ours}, which is {theirs} in the counts in "
                "{kept}",
                hint="Leave {argument} out to count as before, or keep these counts elsewhere",
                code="other_settings",
                word=repr(word),
                ours=_write_rating(other.words.tell(word)[1]),
                theirs=_write_rating(self.words.tell(word)[1]),
                kept=into,
            )

    def ask(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Add to the options of a question about the kept counts how they were made.

        Items may be named by fewer columns than were kept: then their counts are added up. Rows
        without a rating were counted, and may be taken for something else than before.
        """
        given = {name: value for name, value in options.items() if value is not None}
        self._check_asked(given)
        strata = read_names(given.get("strata"))
        item = read_names(given.get("item")) or tuple(x for x in self.item if x not in strata)
        kept = self.options() | {"item": item, "labels": None, "frequency": None, "kept": True}
        if given.get("nulls", "refuse") != "refuse":
            kept["nulls"] = given["nulls"]
        else:
            kept["max_dropped"] = 1.0  # what was left out was accepted batch by batch
        return {**options, **kept}

    def _check_asked(self, given: Mapping[str, Any]) -> None:
        for name in ("time", "window", "every"):
            if name in given:
                raise OptionError(
                    name,
                    problem="{argument} cannot be chosen for kept counts, which were made "
                    + ("with {window:{kept}}" if self.window else "without windows"),
                    hint="To group them differently, name their columns with {counts}"
                    if self.window
                    else "Count the tables again with {window}",
                    kept=self.window or "",
                )
        for name in ("labels", "frequency"):
            if name in given:
                raise OptionError(
                    name,
                    problem="{argument} cannot be chosen for kept counts, whose rows are counted",
                    hint="Leave {argument} out",
                )
        scale = Scale(self.scale)
        if "scale" in given and Scale.read(given["scale"]) != scale:
            raise OptionError(
                "scale",
                problem="{argument} differs from the scale of the kept counts, {kept}",
                hint="Leave {argument} out",
                kept=scale.describe(),
            )


def _describe(settings: CountSettings) -> dict[str, str]:
    """Write each setting in words."""
    named: dict[str, Sequence[str]] = {
        "item": settings.item,
        "rating": settings.rating,
        "counts": settings.counts,
    }
    words = {name: ", ".join(map(repr, columns)) or "missing" for name, columns in named.items()}
    return words | {
        "frequency": repr(settings.frequency) if settings.frequency else "missing",
        "scale": Scale(settings.scale).describe(),
        "window": settings.window or "missing",
        "time": repr(settings.time) if settings.time else "missing",
        "nulls": settings.nulls,
        "off_scale": settings.off_scale,
    }


def _write_rating(rating: float | None) -> str:
    return "no rating" if rating is None else write_exactly(rating)


def _check_additive(request: Request) -> None:
    """Raise if the counts of two batches are not those of all their rows."""
    if request.rater is not None:
        raise OptionError(
            "rater",
            problem="{argument} cannot be combined with {into}: counts do not say who rated, so "
            "that a second rating in a later batch would go unnoticed",
            hint="Leave repeated ratings out of the tables, and {argument} as well",
            code="not_additive",
        )
    if request.window is not None and request.window.steps > 1:
        raise OptionError(
            "every",
            problem="{argument} cannot be combined with {into}: a window that one batch begins and "
            "the next one ends would be in neither",
            hint="Keep the counts of {window:{step}}, and name {time:window_start} and the columns "
            "of {counts} when you rate them",
            code="not_additive",
            step=request.window.step.write(),
        )
