"""The lowest versions that pyproject.toml allows are those that `make lowest` tests."""

from __future__ import annotations

import re
import tomllib

from tools.requirements import ROOT, name_of


def release(version: str) -> tuple[int, ...]:
    """The numbers of a version, without the zeros that do not count: 8.2 and 8.2.0 are one."""
    return tuple(int(x) for x in re.sub(r"(\.0)+$", "", version).split("."))


def test_every_lower_bound_is_pinned_as_it_stands() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(one for extra in extras for one in extra)]
    bounds = {name_of(one): found[1] for one in asked if (found := re.search(r">=([\d.]+)", one))}
    pinned = re.findall(
        r"^([\w.-]+)(?:\[[\w,-]+\])?==([\d.]+)", (ROOT / "constraints-lowest.txt").read_text(), re.M
    )
    versions = {name_of(name): release(version) for name, version in pinned}
    without_bound = {name_of(one) for one in asked} - set(bounds)
    assert without_bound == {"unheard"}
    for name, bound in bounds.items():
        assert versions[name] == release(bound), f"{name}: run make lock, or raise the bound"
