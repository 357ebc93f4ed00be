"""The choices that options offer, as types."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Quiet: TypeAlias = Literal["any", "low", "high", "middle"]
Covers: TypeAlias = Literal["mean", "people"]
Nulls: TypeAlias = Literal["refuse", "drop", "nonresponse"]
OffScale: TypeAlias = Literal["refuse", "drop"]
Duplicates: TypeAlias = Literal["refuse", "latest", "latest_or_none"]
BadN: TypeAlias = Literal["refuse", "drop", "raise"]
RegretKind: TypeAlias = Literal["gap", "excess"]
Method: TypeAlias = Literal[
    "average", "spectral", "reweight", "pooled", "paa", "bea", "midpoint", "minimax"
]
Engine: TypeAlias = Literal["duckdb", "spark"]

METHODS: tuple[Method, ...] = get_args(Method)
"""Names of the methods that :func:`unheard.estimate` knows."""

TABLE_METHODS = tuple(method for method in METHODS if method != "minimax")
"""Those in closed form, which every engine can compute."""
