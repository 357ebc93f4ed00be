"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# Speed is measured in benchmarks/, against a peer; here it would only make tests flaky.
settings.register_profile("unheard", deadline=None, print_blob=True)
settings.load_profile("unheard")
