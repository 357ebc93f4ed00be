"""Run every benchmark, or those named: ``python -m benchmarks imports balance``."""

from __future__ import annotations

import sys

from benchmarks import (
    attack,
    balance,
    calibration,
    claims,
    crowds,
    decide,
    game,
    imports,
    kernels,
    learning,
    levels,
    levels_combined,
    sections,
    shared,
    tables,
    web,
    width,
)

ALL = {
    "imports": imports.run,
    "kernels": kernels.run,
    "balance": balance.run,
    "calibration": calibration.run,
    "learning": learning.run,
    "decide": decide.run,
    "sections": sections.run,
    "claims": claims.run,
    "shared": shared.run,
    "crowds": crowds.run,
    "game": game.run,
    "tables": tables.run,
    "web": web.run,
    "attack": attack.run,
    "levels": lambda: [part.run() for part in (levels, levels_combined)],
    "width": width.run,
}


def main() -> None:
    chosen = sys.argv[1:] or list(ALL)
    unknown = [name for name in chosen if name not in ALL]
    if unknown:
        sys.exit(f"No such benchmark: {', '.join(unknown)}. Choose from {', '.join(ALL)}.")
    for name in chosen:
        print(f"\n== {name} ==", flush=True)
        ALL[name]()


if __name__ == "__main__":
    main()
