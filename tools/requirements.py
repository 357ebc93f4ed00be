"""Print the part of constraints.txt that this project needs for some extras and groups.

pip installs hashed pins with ``-r`` but, before 26.1, not with ``-c``. So the Makefile asks here
for the lines it wants and passes them on as a requirements file. Standard library only: this
runs before anything is installed.
"""

import argparse
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def name_of(requirement: str) -> str:
    """Return the normalised name that opens a requirement such as ``numpy>=2``."""
    found = re.match(r"[\w.-]+", requirement)
    if found is None:
        raise SystemExit(f"not a requirement: {requirement!r}")
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def wanted_directly(project: dict[str, Any], extras: list[str], groups: list[str]) -> set[str]:
    """Return the names pyproject.toml asks for: run-time, then these extras and groups."""
    asked = list(project["project"]["dependencies"])
    for extra in extras:
        asked += project["project"]["optional-dependencies"][extra]
    to_read = list(groups)
    while to_read:
        for entry in project["dependency-groups"][to_read.pop()]:
            if isinstance(entry, str):
                asked.append(entry)
            else:
                to_read.append(entry["include-group"])
    return {name_of(requirement) for requirement in asked}


def pins(constraints: str, wanted: set[str]) -> list[str]:
    """Return the pins of the wanted packages and of everything these need in turn.

    Each pin ends with a ``# via`` line that names the packages that need it.
    """
    blocks = re.split(r"\n(?=\S)", constraints.strip())
    needed_by = {
        block: {name_of(user) for user in block.rpartition("# via ")[2].split(", ")}
        for block in blocks
    }
    wanted = set(wanted)
    while more := {name_of(b) for b in blocks if needed_by[b] & wanted} - wanted:
        wanted |= more
    return [block for block in blocks if name_of(block) in wanted]


def main() -> None:
    """Print the pins for the extras and groups named on the command line."""
    parser = argparse.ArgumentParser(description="Print the pins for some extras and groups.")
    parser.add_argument("--extra", action="append", default=[])
    parser.add_argument("--group", action="append", default=[])
    options = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = wanted_directly(project, options.extra, options.group)
    print("\n".join(pins((ROOT / "constraints.txt").read_text("utf-8"), wanted)))


if __name__ == "__main__":
    main()
