"""Columns that are SQL: the closed forms of the core, written down instead of carried out.

The formulas of :mod:`unheard.formulas` work on whatever understands ``+ - * /`` and ``>``. Here
that is a :class:`Cell`, which remembers how it was made. Equal cells are one cell, so the result is
a graph without repetition, and :func:`layers` lays it out as a chain of SELECTs: what is used more
than once, unless it is short, becomes a named column of one step and is only referred to in the
next. Written as one expression the confidence interval would fill megabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlglot import exp

from unheard.tables.sql.dialects import column
from unheard.tables.sql.reserved_names import reserve

Operand: TypeAlias = "Cell | float"

Layer: TypeAlias = "list[tuple[str, exp.Expr | None]]"
"""The columns of one step; None hands a column on from the step before."""


class Cell:
    """One column on a :class:`Sheet`: an operation and what it is applied to."""

    __slots__ = ("arguments", "operation", "sheet")

    def __init__(self, sheet: Sheet, operation: str, arguments: tuple[Any, ...]) -> None:
        self.sheet, self.operation, self.arguments = sheet, operation, arguments

    def __add__(self, other: Operand) -> Operand:
        return self if other == 0 else self.sheet.cell("add", self, other)

    def __radd__(self, other: float) -> Operand:
        return self if other == 0 else self.sheet.cell("add", other, self)

    def __sub__(self, other: Operand) -> Operand:
        return self if other == 0 else self.sheet.cell("sub", self, other)

    def __rsub__(self, other: float) -> Operand:
        return self.sheet.cell("sub", other, self)

    def __mul__(self, other: Operand) -> Operand:
        if isinstance(other, Cell):
            return self.sheet.cell("mul", self, other)
        return self.__rmul__(other)

    def __rmul__(self, other: float) -> Operand:
        if other == 0:
            return 0.0
        return self if other == 1 else self.sheet.cell("mul", other, self)

    def __truediv__(self, other: Operand) -> Operand:
        return self if other == 1 else self.sheet.cell("div", self, other)

    def __rtruediv__(self, other: float) -> Operand:
        return self.sheet.cell("div", other, self)

    def __neg__(self) -> Operand:
        return self.sheet.cell("neg", self)

    def __gt__(self, other: Operand) -> Operand:
        return self.sheet.cell("gt", self, other)

    def __ge__(self, other: Operand) -> Operand:
        return self.sheet.cell("ge", self, other)

    def __lt__(self, other: Operand) -> Operand:
        return self.sheet.cell("lt", self, other)

    def __le__(self, other: Operand) -> Operand:
        return self.sheet.cell("le", self, other)


class Sheet:
    """All cells of one computation; implements :class:`unheard.formulas.operations.Operations`."""

    def __init__(self) -> None:
        self._cells: dict[tuple[Any, ...], Cell] = {}

    def cell(self, operation: str, *arguments: Any) -> Cell:
        """Return the cell for an operation, the same one whenever it is asked for again."""
        key = (operation, *(id(a) if isinstance(a, Cell) else (type(a), a) for a in arguments))
        return self._cells.setdefault(key, Cell(self, operation, arguments))

    def column(self, name: str) -> Cell:
        """Return a column of the table that the computation starts from."""
        return self.cell("column", name)

    def missing(self) -> Cell:
        """Return a column without values."""
        return self.cell("missing")

    def least(self, a: Operand, b: Operand) -> Operand:
        """Smaller of two, row by row."""
        return self._either("least", min, a, b)

    def greatest(self, a: Operand, b: Operand) -> Operand:
        """Larger of two, row by row."""
        return self._either("greatest", max, a, b)

    def divide(self, a: Operand, b: Operand) -> Operand:
        """Divide; by zero the result is null."""
        return self.cell("divide", a, b) if isinstance(b, Cell) else a / b

    def sqrt(self, a: Operand) -> Operand:
        """Square root."""
        return self.cell("sqrt", a)

    def log(self, a: Operand) -> Operand:
        """Natural logarithm."""
        return self.cell("ln", a)

    def exp(self, a: Operand) -> Operand:
        """Exponential."""
        return self.cell("exp", a)

    def logistic(self, a: Operand) -> Operand:
        """Return 1/(1 + exp(-a)); BEA's argument is small."""
        return 1.0 / (1.0 + self.exp(-a))

    def where(self, condition: Operand | bool, yes: Operand, no: Operand) -> Operand:
        """Choose row by row; a condition on numbers alone is settled here and now."""
        if isinstance(condition, bool):
            return yes if condition else no
        return self.cell("where", condition, yes, no)

    def _either(
        self, operation: str, known: Callable[[Any, Any], float], a: Operand, b: Operand
    ) -> Operand:
        if isinstance(a, Cell) or isinstance(b, Cell):
            return a if a is b else self.cell(operation, a, b)
        return known(a, b)


def number(value: float) -> exp.Expr:
    """Write a number so that every engine reads it as it is, in double precision if fractional."""
    # A whole number stays what it is: 2**53 + 1 has no double.
    if isinstance(value, int) or (value.is_integer() and abs(value) <= 2**53):
        return exp.Literal.number(int(value)) if value >= 0 else exp.Neg(this=number(-value))
    text = repr(float(value))
    # Without an exponent several engines read a decimal number, and round it on the way.
    literal = exp.Literal.number((text if "e" in text else f"{text}e0").lstrip("-"))
    return literal if value > 0 else exp.Neg(this=literal)


_BINDS: dict[type[exp.Expr], int] = {exp.Add: 1, exp.Sub: 1, exp.Mul: 2, exp.Div: 2, exp.Neg: 3}
"""How tightly signs bind; comparisons bind least, and whatever has brackets of its own most."""


def _binary(sign: type[exp.Binary]) -> Callable[..., exp.Expr]:
    """Write two operands with a sign between, in brackets where the order would change.

    Also ``a + (b + c)`` keeps its brackets: floating point rounds in the order it is told to.
    """
    strength = _BINDS.get(sign, 0)

    def write(a: exp.Expr, b: exp.Expr) -> exp.Expr:
        left = exp.Paren(this=a) if _BINDS.get(type(a), 9) < strength else a
        loose = isinstance(b, exp.Neg) or _BINDS.get(type(b), 9) <= strength
        right = exp.Paren(this=b) if loose else b
        # Everything here is in double precision: no cast is needed for a division.
        typed = {"typed": True} if sign is exp.Div else {}
        return sign(this=left, expression=right, **typed)

    return write


def _either(choice: type[exp.Func]) -> Callable[..., exp.Expr]:
    """Write the least or greatest; of one that is itself compared, in one go."""

    def write(a: exp.Expr, b: exp.Expr) -> exp.Expr:
        if isinstance(a, choice):
            there = [a.this, *a.expressions]
            return a if b in there else choice(this=a.this, expressions=[*a.expressions, b])
        return choice(this=a, expressions=[b])

    return write


def _divide(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return _SQL["div"](a, exp.Nullif(this=b, expression=exp.Literal.number(0)))


def _where(condition: exp.Expr, yes: exp.Expr, no: exp.Expr) -> exp.Expr:
    # Built by hand: the builders of sqlglot copy what they are given.
    return exp.Case(ifs=[exp.If(this=condition, true=yes)], default=no)


_SQL: dict[str, Callable[..., exp.Expr]] = {
    "add": _binary(exp.Add),
    "sub": _binary(exp.Sub),
    "mul": _binary(exp.Mul),
    "div": _binary(exp.Div),
    "neg": lambda a: exp.Neg(this=exp.Paren(this=a)),
    "gt": _binary(exp.GT),
    "ge": _binary(exp.GTE),
    "lt": _binary(exp.LT),
    "le": _binary(exp.LTE),
    "least": _either(exp.Least),
    "greatest": _either(exp.Greatest),
    "divide": _divide,
    "sqrt": lambda a: exp.Sqrt(this=a),
    "ln": lambda a: exp.Ln(this=a),
    "exp": lambda a: exp.Exp(this=a),
    "where": _where,
    "missing": exp.null,
}


_DEEPEST = 8
"""An expression this deep gets a name: for readers, and for engines whose parsers give up."""

_LONGEST = 8
"""Repeating no more than this many names costs less than a name that steps have to hand on."""

_MANY = 100
"""What is picked from so many names gets one, so that these need not be handed on any further."""

_SIGNS = ("add", "sub", "mul", "neg", "least", "greatest")
"""What costs next to nothing to work out again."""


@dataclass
class _Layout:
    """Which cells get a name, and in which step."""

    outputs: Mapping[str, Operand]
    uses: dict[int, int] = field(default_factory=dict)
    order: list[Cell] = field(default_factory=list)
    level: dict[int, int] = field(default_factory=dict)
    depth: dict[int, int] = field(default_factory=dict)
    length: dict[int, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    named: int = 0

    def __post_init__(self) -> None:
        for cell in self.outputs.values():
            self._visit(cell)
        for cell in self.order:
            below = max((self.level.get(id(a), 0) for a in _cells_in(cell)), default=0)
            # Not every engine has columns that are true or false, or of no type.
            plain = cell.operation not in ("column", "missing", "gt", "ge", "lt", "le")
            nested = self._nesting(cell)
            length = sum(self.length[id(a)] for a in _cells_in(cell)) or 1
            again = self.uses[id(cell)] - 1
            if cell.operation in _SIGNS and again * length > _LONGEST:
                length = self._name_longest(cell, again, length, below)
            repeated = again * length > (_LONGEST if cell.operation in _SIGNS else 0)
            bulky = length > _MANY and _ends_a_search(cell)
            shared = plain and (repeated or bulky or nested >= _DEEPEST)
            self.depth[id(cell)] = 0 if shared else nested
            self.length[id(cell)] = 1 if shared else length
            self.level[id(cell)] = below + shared
            if shared:
                self._name(cell)
            elif cell.operation == "column":
                self.names[id(cell)] = cell.arguments[0]

    def _name(self, cell: Cell) -> None:
        self.named += 1
        self.names[id(cell)] = reserve(f"x{self.named}")

    def _name_longest(self, cell: Cell, again: int, length: int, below: int) -> int:
        """Name the longest part of a cell, if the rest is then short enough to be repeated.

        Only if that part can be made beside others that the cell waits for: then the cell itself
        costs no step. Returns the length of what is left.
        """
        longest = max(_cells_in(cell), key=lambda part: self.length[id(part)])
        shorter = length - self.length[id(longest)] + 1
        early = self.level[id(longest)] < below and longest.operation in _SIGNS
        early = early and self.uses[id(longest)] == 1
        if not early or again * shorter > _LONGEST:
            return length
        self._name(longest)
        self.depth[id(longest)], self.length[id(longest)] = 0, 1
        self.level[id(longest)] += 1
        return shorter

    def _nesting(self, cell: Cell) -> int:
        """How many brackets deep the expression for a cell is."""
        inner = [self.depth[id(a)] for a in _cells_in(cell)]
        if cell.operation in ("add", "sub", "mul", "least", "greatest"):
            # What comes first needs no brackets.
            inner = [depth + (place > 0) for place, depth in enumerate(inner)]
            return max(inner, default=0)
        return 1 + max(inner, default=0) if inner else 0

    def _visit(self, top: Operand) -> None:
        """Count uses and list cells so that each comes after what it is made of."""
        if not isinstance(top, Cell):
            return
        stack: list[tuple[Cell, bool]] = [(top, False)]
        while stack:
            cell, done = stack.pop()
            if done:
                self.order.append(cell)
                continue
            self.uses[id(cell)] = self.uses.get(id(cell), 0) + 1
            if self.uses[id(cell)] == 1:
                stack.append((cell, True))
                stack.extend((a, False) for a in reversed(list(_cells_in(cell))))

    def write(self, cell: Operand, top: bool = False) -> exp.Expr:
        """Write a cell as an expression over named columns."""
        if not isinstance(cell, Cell):
            return number(cell)
        if not top and id(cell) in self.names:
            return column(self.names[id(cell)])
        return _SQL[cell.operation](*(self.write(a) for a in cell.arguments))

    def needs(self, cell: Operand, top: bool = False) -> set[str]:
        """Names that a cell's expression refers to."""
        if not isinstance(cell, Cell):
            return set()
        if not top and id(cell) in self.names:
            return {self.names[id(cell)]}
        return set().union(*(self.needs(a) for a in _cells_in(cell)))


def _ends_a_search(cell: Cell) -> bool:
    """Whether a cell is the largest of something and the least of others, or the reverse."""
    other = {"greatest": "least", "least": "greatest"}.get(cell.operation)
    return any(a.operation == other for a in _cells_in(cell))


def _cells_in(cell: Cell) -> Iterable[Cell]:
    return (a for a in cell.arguments if isinstance(a, Cell))


def layers(outputs: Mapping[str, Operand], carried: Sequence[str]) -> list[Layer]:
    """Lay a computation out in steps.

    Parameters
    ----------
    outputs
        Named results.
    carried
        Further columns of the table that all steps hand on.

    Returns
    -------
    list
        One list per step of (name, expression); None as an expression hands the column on.
    """
    layout = _Layout(outputs)
    plan = _Plan(layout, outputs)
    final = [(name, layout.write(cell)) for name, cell in outputs.items()]
    steps: list[Layer] = [[*((name, None) for name in carried), *final]]
    wanted = plan.needs[""].difference(carried)
    for made in reversed(plan.steps()):
        handed = sorted(wanted.difference(made), key=plan.place.__getitem__)
        step: Layer = [
            *((name, None) for name in (*carried, *handed)),
            *((name, layout.write(plan.made[name], top=True)) for name in made),
        ]
        steps.append(step)
        wanted = set(handed).union(*(plan.needs[name] for name in made)).difference(carried)
    return steps[::-1]


class _Plan:
    """In which step each named column is made.

    Attributes
    ----------
    made
        The cells that get a name, each after those it is made of.
    place
        Where in that order a name comes; those of the table are in it, too.
    needs
        Names that each is made of; "" stands for the results.
    """

    def __init__(self, layout: _Layout, outputs: Mapping[str, Operand]) -> None:
        named = {layout.names[id(c)]: c for c in layout.order if id(c) in layout.names}
        self.place = {name: place for place, name in enumerate(named)}
        self.made = {name: c for name, c in named.items() if c.operation != "column"}
        self.needs = {name: layout.needs(c, top=True) for name, c in self.made.items()}
        self.needs[""] = set().union(*(layout.needs(cell) for cell in outputs.values()))
        self._level = {name: layout.level[id(c)] for name, c in self.made.items()}
        self._level[""] = 1 + max(self._level.values(), default=0)
        self._delay()

    def steps(self) -> list[list[str]]:
        """Names to make in each step."""
        steps: list[list[str]] = [[] for _ in range(self._level[""] - 1)]
        for name in self.made:
            steps[self._level[name] - 1].append(name)
        return steps

    def _delay(self) -> None:
        """Make a column only when it is needed, unless more would then have to wait for it."""
        users: dict[str, list[str]] = {}
        for name, needed in self.needs.items():
            for one in needed:
                users.setdefault(one, []).append(name)
        for name in reversed(self.made):
            now, latest = self._level[name], min(self._level[user] for user in users[name]) - 1
            waits = 0
            for one in self.needs[name]:
                others = (self._level[user] for user in users[one] if user != name)
                waits += max(latest - max(others, default=now), 0)
            if waits < latest - now:
                self._level[name] = latest
