"""Assumptions in files: what an audit found, kept as JSON for every command to use."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from unheard.analysis.calibrate import Audit
from unheard.errors import OptionError, SourceError
from unheard.formulas.pooling import Pool, Seen, Silent
from unheard.model.assumption import Assumption
from unheard.model.scale import Scale


def build_audit_document(audit: Audit) -> dict[str, Any]:
    """Return the JSON document of an audit, which is also the file that states it."""
    numbers = {
        name: [None if np.isnan(x) else float(x) for x in getattr(audit, name)]
        for name in ("g", "g_lower", "g_upper")
    }
    item_lower, item_upper = audit.item_box()
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
    """Keep what an audit found, for ``--assumption`` and :func:`read_assumption`.

    Parameters
    ----------
    audit
        What :func:`unheard.calibrate` found.
    path
        A JSON file; one that is there is replaced.
    """
    if not isinstance(audit, Audit):
        raise OptionError("audit", f"{type(audit).__name__} found", "Give what calibrate returns")
    target = Path(path)
    partial = target.with_name(f".{target.name}.part")
    try:
        partial.write_text(json.dumps(build_audit_document(audit), indent=1), encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        raise OptionError("path", f"{path}: {error.strerror}", "Name a file to write") from None
    finally:
        partial.unlink(missing_ok=True)


def read_assumption(path: str | Path) -> Assumption:
    """Read what an audit found, as an assumption for :func:`unheard.estimate` and its kin.

    Parameters
    ----------
    path
        A file that ``unheard calibrate -o`` or :func:`write_assumption` wrote. Of one with
        segments, ``file.json#segment`` names the part.
    """
    return read_assumption_and_scale(path)[0]


def read_assumption_and_scale(path: str | Path) -> tuple[Assumption, Scale]:
    """Read what an audit found, and the scale that it is about."""
    name, _, segment = str(path).partition("#")
    document = _document(name)
    if segment or "segments" in document:
        document = _segment(document.get("segments", {}), segment, name)
    return parse_audit_document(document, name)


def parse_audit_document(document: dict[str, Any], name: str) -> tuple[Assumption, Scale]:
    """Turn the document of an audit into the assumption it states, and its scale.

    ``name`` is what messages call the document.
    """
    try:
        g, lower, upper = (document[key] for key in ("g", "item_lower", "item_upper"))
        scale, relative = Scale(document["scale"]), bool(document["relative"])
        if None in g:
            return Assumption.box(lower, upper, relative=relative), scale
        pool = _pool(document.get("pool"))
        return Assumption.audit(g, lower, upper, relative=relative, pool=pool), scale
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise SourceError(
            "assumption",
            f"{name} does not hold what an audit found ({_missing(error)})",
            "Make it with: unheard calibrate AUDIT ... -o audit.json",
        ) from None


def _missing(error: Exception) -> str:
    words = str(error).rstrip(".")
    return f"{words} is missing" if isinstance(error, KeyError) else words


def _document(name: str) -> dict[str, Any]:
    try:
        found = json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(
            "assumption", f"{name} cannot be read ({error.strerror})", "Check the file's name"
        ) from None
    except ValueError as error:
        raise SourceError(
            "assumption",
            f"{name} is not JSON ({error})",
            "Make it with: unheard calibrate AUDIT ... -o audit.json",
        ) from None
    if not isinstance(found, dict):
        raise SourceError(
            "assumption", f"{name} holds no audit", "Make it with: unheard calibrate AUDIT ..."
        )
    return found


def _segment(segments: Any, segment: str, name: str) -> dict[str, Any]:
    if not isinstance(segments, dict) or not segments:
        raise SourceError("assumption", f"{name} has no segments", f"Write {name} alone")
    if segment not in segments:
        there = ", ".join(list(segments)[:12])
        raise SourceError(
            "assumption",
            f"{name} has no segment {segment!r}" if segment else f"{name} has several segments",
            f"Name one of them, such as {name}#{next(iter(segments))}. It has: {there}",
        )
    found: dict[str, Any] = segments[segment]
    return found


def _pool(stored: dict[str, Any] | None) -> Pool | None:
    if stored is None:
        return None
    seen, silent = stored["seen"], stored["silent"]
    return Pool(Seen(**_tuples(seen)), None if silent is None else Silent(**_tuples(silent)))


def _tuples(stored: dict[str, Any]) -> dict[str, Any]:
    """Turn lists, and lists of lists, into the tuples that they were."""

    def plain(value: Any) -> Any:
        return tuple(map(plain, value)) if isinstance(value, list) else value

    return {key: plain(value) for key, value in stored.items()}
