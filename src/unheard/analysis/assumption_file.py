"""Assumptions in files: estimated participation as JSON, which every command can read."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from unheard.analysis.calibrate import Audit
from unheard.analysis.drift import Drift
from unheard.analysis.participation import Participation
from unheard.analysis.suggest import Suggestion
from unheard.analysis.waves import Waves
from unheard.errors import Given, OptionError, SourceError
from unheard.files import beside
from unheard.formulas.pooling import NonrespondentPool, Pool, RespondentPool
from unheard.model.assumption import Assumption, Learned
from unheard.model.scale import Scale

DOCUMENT = "the document"
"""What messages call a document that is not in a file."""


def build_participation_document(found: Participation) -> dict[str, Any]:
    """Return the JSON document of estimated participation, which is also what its file contains."""
    numbers = {
        name: [None if np.isnan(x) else float(x) for x in getattr(found, name)]
        for name in ("g", "g_lower", "g_upper")
    }
    item_lower, item_upper = found.find_item_box()
    return {
        "source": found.source,
        "scale": list(found.scale.values),
        **numbers,
        "item_lower": item_lower.tolist(),
        "item_upper": item_upper.tolist(),
        "q": found.q,
        "q_lower": found.q_lower,
        "quiet": found.quiet,
        "words": found.words,
        "sentences": list(found.sentences),
        "warnings": list(found.warnings),
        "trend_p": found.trend_p,
        "middle_p": found.middle_p,
        "relative": found.relative,
        "level": found.level,
        "items": found.items,
        **_describe_source(found),
        "pool": None if found.pool is None else asdict(found.pool),
    }


def _describe_source(found: Participation) -> dict[str, Any]:
    """Return what only one source has."""
    if isinstance(found, Audit):
        return {"audited": int(found.truth.sum()), "answered": int(found.observed.sum())}
    if isinstance(found, Waves):
        return {
            "asked": None if found.n is None else int(found.n.sum()),
            "answered": int(found.counts.sum()),
            "responses": found.counts.sum(axis=(0, 2)).astype(int).tolist(),
            "effectiveness": found.effectiveness.tolist(),
            "model_p": found.model_p,
            "item_spread": found.item_spread,
        }
    assert isinstance(found, Suggestion)  # there is no other source
    return {
        "asked": int(found.n.sum()),
        "answered": int(found.counts.sum()),
        "slope": found.slope,
        "slope_se": found.slope_se,
        "j": found.j,
        "j_p": found.j_p,
        "dispersion": found.dispersion,
        "alternatives": [asdict(one) for one in found.alternatives],
        "kappa_without_slope": found.kappa_without_slope,
    }


def build_drift_document(drift: Drift) -> dict[str, Any]:
    """Return the JSON document of participation over time: one document per window."""
    return {
        "windows": {
            start: {"window_start": start, "window_end": end, **build_participation_document(one)}
            for (start, end), one in zip(drift.windows, drift.pooled, strict=True)
        },
        "step": drift.step,
        "change": None
        if drift.change is None
        else {"date": drift.windows[drift.change.window][0], "p": drift.change.p},
        "words": drift.words,
        "sentences": list(drift.sentences),
    }


def write_assumption(found: Participation, path: str | Path) -> None:
    """Write estimated participation to a file, for ``--assumption`` and :func:`read_assumption`.

    Parameters
    ----------
    found
        The result of :func:`unheard.calibrate`, :func:`unheard.calibrate_from_waves` or
        :func:`unheard.suggest_participation`.
    path
        A JSON file; an existing one is replaced.
    """
    if not isinstance(found, Participation):
        raise OptionError(
            "found",
            problem="{argument} must be estimated participation",
            value=Given(type(found).__name__),
            hint="Use what unheard.calibrate returns",
        )
    with beside(Path(path), "path") as fresh:
        fresh.write_text(json.dumps(build_participation_document(found), indent=1), "utf-8")


def read_assumption(path: str | Path) -> Assumption:
    """Read estimated participation from a file, as an assumption.

    Parameters
    ----------
    path
        A file written by ``unheard calibrate -o`` or :func:`write_assumption`. In a file with
        several segments or windows, ``file.json#segment`` selects one.

    Returns
    -------
    Assumption
        For :func:`unheard.estimate` and every function that takes an assumption.
    """
    return read_assumption_and_scale(path)[0]


def read_assumption_and_scale(path: str | Path) -> tuple[Assumption, Scale]:
    """Read estimated participation from a file, as an assumption with its scale."""
    name, _, segment = str(path).partition("#")
    document = parse_document(_read_text(name), name)
    parts = _list_parts(document)
    if segment or parts is not None:
        document = _select_segment(parts or {}, segment, name)
    return read_participation_document(document, name)


def check_scale(given: Scale | None, audited: Scale) -> None:
    """Raise if a scale was given that is not the one of estimated participation."""
    if given is not None and given != audited:
        raise OptionError(
            "scale",
            problem="{argument} differs from the scale of {assumption}, {audited}",
            hint="Leave {argument} out",
            audited=audited.describe(),
        )


def read_participation_document(
    document: dict[str, Any], name: str = DOCUMENT
) -> tuple[Assumption, Scale]:
    """Return the assumption in the document of estimated participation, and its scale.

    ``name`` is what messages call the document.
    """
    parts = _list_parts(document)
    if isinstance(parts, dict):
        raise SourceError(
            "assumption",
            problem="{file} has several segments: {known}",
            hint="Send one of them",
            file=name,
            known=", ".join(list(parts)[:12]),
        )
    try:
        made = _build_assumption(document)
        return replace(made, learned=_read_learned(document)), Scale(document["scale"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _refuse_file(name, _explain(error)) from None


def _build_assumption(document: dict[str, Any]) -> Assumption:
    g, lower, upper = (document[key] for key in ("g", "item_lower", "item_upper"))
    relative = bool(document["relative"])
    if document["source"] == Suggestion.source:
        return Assumption.bounded(document["q_lower"], document["quiet"])
    if None in g:
        return Assumption.box(lower, upper, relative=relative)
    pool = _parse_pool(document.get("pool"))
    return Assumption.audit(g, lower, upper, relative=relative, pool=pool)


def _read_learned(document: dict[str, Any]) -> Learned:
    source = document["source"]
    if source not in (Audit.source, Waves.source, Suggestion.source):
        raise ValueError(f"source {source!r} is unknown")
    sentences, warnings = (tuple(map(str, document[key])) for key in ("sentences", "warnings"))
    return Learned(source, sentences, warnings)


def _explain(error: Exception) -> str:
    words = str(error).rstrip(".")
    return f"{words} is missing" if isinstance(error, KeyError) else words


def _refuse_file(name: str, reason: str) -> SourceError:
    return SourceError(
        "assumption",
        problem="{file} is not the result of a calibration ({reason})",
        hint="Create the file with: unheard calibrate TABLE ... -o audit.json",
        file=name,
        reason=reason,
    )


def _list_parts(document: Any) -> Any:
    """Return the documents of segments or windows; None if there is only one of everybody."""
    if not isinstance(document, dict):
        return None
    return document.get("segments", document.get("windows"))


def _read_text(name: str) -> str | bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise SourceError(
            "assumption",
            problem="{file} cannot be read: {reason}",
            hint="Check the name of the file",
            file=name,
            reason=error.strerror,
        ) from None


def parse_document(text: str | bytes, name: str = DOCUMENT) -> dict[str, Any]:
    """Return the JSON object in a text; ``name`` is what messages call it."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refuse_file(name, f"it is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise _refuse_file(name, "it is not a JSON object")
    return document


def _select_segment(segments: Any, segment: str, name: str) -> dict[str, Any]:
    if not isinstance(segments, dict) or not segments:
        raise SourceError(
            "assumption",
            problem="{file} has no segments",
            value=f"{name}#{segment}",
            hint="Leave out #{segment}",
            file=name,
            segment=segment,
        )
    known = ", ".join(list(segments)[:12])
    example = f"{name}#{next(iter(segments))}"
    if not segment:
        raise SourceError(
            "assumption",
            problem="{file} has several segments: {known}",
            hint="Select one, as in {example}",
            file=name,
            known=known,
            example=example,
        )
    if segment not in segments:
        raise SourceError(
            "assumption",
            problem="{file} has no segment {segment}, but {known}",
            hint="Select one of them, as in {example}",
            file=name,
            segment=repr(segment),
            known=known,
            example=example,
        )
    selected: dict[str, Any] = segments[segment]
    return selected


def _parse_pool(stored: dict[str, Any] | None) -> Pool | None:
    if stored is None:
        return None
    without_n, with_n = stored["without_n"], stored["with_n"]
    return Pool(
        RespondentPool(**_read_tuples(without_n)),
        None if with_n is None else NonrespondentPool(**_read_tuples(with_n)),
    )


def _read_tuples(stored: dict[str, Any]) -> dict[str, Any]:
    """Turn lists, and lists of lists, back into tuples."""

    def convert(value: Any) -> Any:
        return tuple(map(convert, value)) if isinstance(value, list) else value

    return {key: convert(value) for key, value in stored.items()}
