"""Queries: how they are built, apart from how they are run."""
