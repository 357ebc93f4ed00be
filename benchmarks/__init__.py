"""Benchmarks: speed relative to a peer in the same run, and coverage of the intervals."""
