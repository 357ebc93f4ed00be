"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile(
    "unheard",
    # Speed is measured in benchmarks/, against a peer; here it would only make tests flaky.
    deadline=None,
    # The same examples at every run of CI; new ones on a developer's machine.
    derandomize=bool(os.environ.get("CI")),
    print_blob=True,
)
settings.load_profile("unheard")
