"""Queries, built apart from being run."""
