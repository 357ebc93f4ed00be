"""Importing the package is cheap and brings no heavy library along."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import unheard as uh
from unheard.model import arguments

HEAVY = {"pandas", "polars", "pyarrow", "duckdb", "ibis", "altair", "fastapi", "rich", "click"}
HEAVY |= {"scipy.optimize", "scipy.stats", "pyspark", "sqlglot"}


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, unheard; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "unheard.errors" in loaded
    assert not loaded & {*HEAVY, "numpy"}


def test_first_estimate_loads_nothing_heavy() -> None:
    code = "import sys, unheard as uh; uh.estimate([1, 2], q=0.5); print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "unheard.model.question" in loaded
    assert not loaded & HEAVY


def test_only_public_names_are_listed() -> None:
    assert dir(uh) == sorted([*uh.__all__, "charts"])
    for name in dir(uh):
        assert getattr(uh, name) is not None


def documented_constants() -> set[str]:
    """Names of this package's constants that have a docstring below them."""
    names = set()
    for path in Path(uh.__file__).parent.rglob("*.py"):
        for one, below in pairwise(ast.parse(path.read_text(encoding="utf-8")).body):
            targets = {ast.Assign: "targets", ast.AnnAssign: "target"}.get(type(one))
            if targets is None or not isinstance(below, ast.Expr):
                continue
            if isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
                found = getattr(one, targets)
                names |= {ast.unparse(x) for x in (found if isinstance(found, list) else [found])}
    return names


def test_public_names_are_documented() -> None:
    constants = documented_constants()
    for name in uh.__all__:
        public = getattr(uh, name)
        if inspect.isclass(public) or inspect.isroutine(public):
            own = vars(public).get("__doc__") if inspect.isclass(public) else public.__doc__
            # A dataclass without a docstring is given its signature for one.
            assert own, name
            assert not own.startswith(f"{name}("), name
        elif not name.startswith("__"):
            assert name in constants, name


def typing_names(module: ModuleType) -> dict[str, object]:
    """Return the names of a module, those that it imports for type checkers included."""
    names: dict[str, object] = {"typing": typing}
    for one in ast.parse(inspect.getsource(module)).body:
        if isinstance(one, ast.If) and "TYPE_CHECKING" in ast.unparse(one.test):
            exec(compile(ast.Module(one.body, []), module.__name__, "exec"), names)
    names |= vars(module)
    if module is not arguments and isinstance(
        names.get("Table"), str
    ):  # an alias that only type checkers can resolve
        names["Table"] = eval(str(arguments.Table), typing_names(arguments))
    return names


def holds_any(kind: object) -> bool:
    """Whether a type is Any, or has Any inside; what NumPy's own aliases hold does not count."""
    if kind is Any:
        return True
    origin = typing.get_origin(kind)
    if origin is np.ndarray:
        return any(map(holds_any, typing.get_args(typing.get_args(kind)[1])))
    if getattr(origin, "__module__", "").startswith("numpy"):
        return False
    return any(
        any(map(holds_any, one)) if isinstance(one, list) else holds_any(one)
        for one in typing.get_args(kind)
    )


def annotated(public: Any) -> Iterator[tuple[str, Any]]:
    """Yield what carries annotations: the function, or the class and its public methods."""
    if inspect.isroutine(public):
        yield public.__name__, public
        for one in typing.get_overloads(public):
            yield f"{public.__name__} (overload)", one
    if not inspect.isclass(public):
        return
    for base in public.__mro__:
        if base.__module__.startswith("unheard"):
            yield base.__name__, base
            for name, member in vars(base).items():
                inner = getattr(member, "fget", getattr(member, "func", member))
                inner = getattr(inner, "__func__", inner)
                # The __init__ of a dataclass is made of the fields, which are looked at as such.
                written = name == "__init__" and not hasattr(base, "__dataclass_fields__")
                if inspect.isfunction(inner) and (written or not name.startswith("_")):
                    yield f"{base.__name__}.{name}", inner


@pytest.mark.parametrize("name", [name for name in uh.__all__ if name != "__version__"])
def test_no_public_signature_has_any(name: str) -> None:
    for where, one in annotated(getattr(uh, name)):
        for argument, kind in vars(one).get("__annotations__", one.__annotations__).items():
            names = typing_names(sys.modules[one.__module__])
            resolved = eval(kind, names) if isinstance(kind, str) else kind
            if not argument.startswith("_"):
                assert not holds_any(resolved), f"{where}: {argument}: {resolved}"


def test_any_is_found() -> None:
    kinds: list[Any] = [Any, list[Any], dict[str, list[Any]], NDArray[Any], Callable[[Any], int]]
    assert all(map(holds_any, kinds))
    assert not any(map(holds_any, [int, list[int], NDArray[np.float64], ArrayLike]))
