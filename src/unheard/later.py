"""What lower layers need of higher ones, fetched when first needed.

Results are presented and drawn, and games are solved, by layers that the lower ones know nothing
of. The package says which modules those are; nothing is imported before it is used.
"""

from __future__ import annotations

import importlib
from types import ModuleType

_modules: dict[str, str] = {}


def provide(**modules: str) -> None:
    """State which module plays which part."""
    _modules.update(modules)


def fetch(part: str) -> ModuleType:
    """Return the module that plays a part."""
    return importlib.import_module(_modules[part])
