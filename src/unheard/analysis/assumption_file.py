"""Assumptions in files: the result of an audit as JSON, which every command can read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from unheard.analysis.calibrate import Audit
from unheard.errors import Given, OptionError, SourceError
from unheard.formulas.pooling import NonrespondentPool, Pool, RespondentPool
from unheard.model.assumption import Assumption
from unheard.model.scale import Scale


def build_audit_document(audit: Audit) -> dict[str, Any]:
    """Return the JSON document of an audit, which is also what its file contains."""
    numbers = {
        name: [None if np.isnan(x) else float(x) for x in getattr(audit, name)]
        for name in ("g", "g_lower", "g_upper")
    }
    item_lower, item_upper = audit.find_item_box()
    return {
        "scale": list(audit.scale.values),
        **numbers,
        "item_lower": item_lower.tolist(),
        "item_upper": item_upper.tolist(),
        "q": audit.q,
        "q_lower": audit.q_lower,
        "quiet": audit.quiet,
        "words": audit.words,
        "trend_p": audit.trend_p,
        "middle_p": audit.middle_p,
        "relative": not audit.paired,
        "level": audit.level,
        "items": audit.items,
        "audited": int(audit.truth.sum()),
        "answered": int(audit.observed.sum()),
        "pool": None if audit.pool is None else asdict(audit.pool),
    }


def write_assumption(audit: Audit, path: str | Path) -> None:
    """Write the result of an audit to a file, for ``--assumption`` and :func:`read_assumption`.

    Parameters
    ----------
    audit
        The result of :func:`unheard.calibrate`.
    path
        A JSON file; an existing one is replaced.
    """
    if not isinstance(audit, Audit):
        raise OptionError(
            "audit",
            problem="{argument} must be an Audit",
            value=Given(type(audit).__name__),
            hint="Use what unheard.calibrate returns",
        )
    target = Path(path)
    partial = target.with_name(f".{target.name}.part")
    try:
        partial.write_text(json.dumps(build_audit_document(audit), indent=1), encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        raise OptionError(
            "path",
            problem="{path} cannot be written: {reason}",
            path=str(path),
            reason=error.strerror,
        ) from None
    finally:
        partial.unlink(missing_ok=True)


def read_assumption(path: str | Path) -> Assumption:
    """Read the result of an audit from a file, as an assumption.

    Parameters
    ----------
    path
        A file written by ``unheard calibrate -o`` or :func:`write_assumption`. In a file with
        several segments, ``file.json#segment`` selects one.

    Returns
    -------
    Assumption
        For :func:`unheard.estimate` and every function that takes an assumption.
    """
    return read_assumption_and_scale(path)[0]


def read_assumption_and_scale(path: str | Path) -> tuple[Assumption, Scale]:
    """Read the result of an audit from a file, as an assumption with its scale."""
    name, _, segment = str(path).partition("#")
    document = _read_document(name)
    if segment or "segments" in document:
        document = _select_segment(document.get("segments", {}), segment, name)
    return parse_audit_document(document, name)


def parse_audit_document(document: dict[str, Any], name: str) -> tuple[Assumption, Scale]:
    """Return the assumption in the document of an audit, and its scale.

    ``name`` is what messages call the document.
    """
    try:
        g, lower, upper = (document[key] for key in ("g", "item_lower", "item_upper"))
        scale, relative = Scale(document["scale"]), bool(document["relative"])
        if None in g:
            return Assumption.box(lower, upper, relative=relative), scale
        pool = _parse_pool(document.get("pool"))
        return Assumption.audit(g, lower, upper, relative=relative, pool=pool), scale
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _refuse_file(name, _explain(error)) from None


def _explain(error: Exception) -> str:
    words = str(error).rstrip(".")
    return f"{words} is missing" if isinstance(error, KeyError) else words


def _refuse_file(name: str, reason: str) -> SourceError:
    return SourceError(
        "assumption",
        problem="{file} is not the result of an audit ({reason})",
        hint="Create the file with: unheard calibrate AUDIT ... -o audit.json",
        file=name,
        reason=reason,
    )


def _read_document(name: str) -> dict[str, Any]:
    try:
        document = json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(
            "assumption",
            problem="{file} cannot be read: {reason}",
            hint="Check the name of the file",
            file=name,
            reason=error.strerror,
        ) from None
    except ValueError as error:
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
    seen, silent = stored["seen"], stored["silent"]
    return Pool(
        RespondentPool(**_read_tuples(seen)),
        None if silent is None else NonrespondentPool(**_read_tuples(silent)),
    )


def _read_tuples(stored: dict[str, Any]) -> dict[str, Any]:
    """Turn lists, and lists of lists, back into tuples."""

    def convert(value: Any) -> Any:
        return tuple(map(convert, value)) if isinstance(value, list) else value

    return {key: convert(value) for key, value in stored.items()}
