"""The time of ``import unheard``, and of a first estimate, compared with importing NumPy and
scipy.special, which the first estimate loads as well.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median

from benchmarks.timing import report

_CODE = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"


def import_seconds(statement: str, repeats: int = 15) -> float:
    """Return the median time of an import in a fresh interpreter, after it has started."""
    command = [sys.executable, "-c", _CODE.format(statement)]
    return median(
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(repeats)
    )


def run() -> None:
    import_seconds("import unheard", repeats=2)  # warm the file cache
    theirs = import_seconds("import numpy, scipy.special")
    ours = import_seconds("import unheard")
    report("import unheard", ours, "import numpy, scipy.special", theirs, "goal: at most 0.2")
    first = import_seconds("import unheard as uh; uh.estimate([1, 2], q=0.5)")
    report("a first estimate", first, "import numpy, scipy.special", theirs, "goal: at most 1.6")
