"""A contract for import-linter: this module imports, from outside, the listed packages only.

The built-in contracts can forbid packages by name; a list of the allowed ones also catches the
package nobody thought of.
"""

import sys
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class AllowedPackages(Contract):
    """The standard library and the packages in ``allowed`` are all that ``module`` may import."""

    # Any, because import-linter replaces these descriptions by the values of the settings.
    module: Any = fields.StringField()
    allowed: Any = fields.SetField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Look at every direct import made by the module and its descendants."""
        top: str = self.module
        welcome = self.allowed | sys.stdlib_module_names | {top.partition(".")[0]}
        broken = [
            f"{importer} imports {imported}"
            for importer in sorted({top} | graph.find_descendants(top))
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if imported.partition(".")[0] not in welcome
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Say which import is one too many, and what is allowed."""
        allowed = ", ".join(sorted(self.allowed))
        for line in check.metadata["broken"]:
            output.print_error(f"{line}; allowed: {allowed} and the standard library")
