"""The public names: each has an entry in the API reference, and links lead there.

Code names things by the module that defines them (``unheard.model.results.Estimate``), the
reference by the name that users import (``unheard.Estimate``).
"""

from __future__ import annotations

import importlib.util

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

import unheard


def warn_of_missing(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn, and so fail, where a public name has no entry in the reference."""
    entries = env.domains.python_domain.objects
    for name in unheard.__all__:
        if name != "__version__" and f"unheard.{name}" not in entries:
            logging.getLogger(__name__).warning("unheard.%s is not in the API reference", name)


def find_entry(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.TextElement
) -> nodes.Element | None:
    """Lead a link to a public name's entry.

    A type in a signature that is not public stays text, and so does a module.
    """
    target = node.get("reftarget", "")
    if not target.startswith("unheard."):
        return None
    parts = target.split(".")
    for start, part in enumerate(parts[1:], start=1):
        name = ".".join(["unheard", *parts[start:]])
        if part in unheard.__all__ and name in env.domains.python_domain.objects:
            return env.domains.python_domain.resolve_xref(
                env, node["refdoc"], app.builder, node["reftype"], name, node, contnode
            )
    if node.get("reftype") == "class" or is_module(target):
        return contnode
    return None


def is_module(name: str) -> bool:
    """Tell whether a name is that of a module of the package."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Check when every page has been read, and resolve what Sphinx cannot."""
    app.connect("env-check-consistency", warn_of_missing)
    app.connect("missing-reference", find_entry)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
