"""Expressions laid out as a chain of SELECTs, each of which adds named columns to the one before.

What is used more than once, unless it is short, becomes a named column of one step and is only
referred to in the next. Written as one expression the confidence interval would fill megabytes.
Names come from the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from unheard.tables.sql.dialects import column, identifier
from unheard.tables.sql.expressions import HIGH, LOW, Cell, Operand, Order, number
from unheard.tables.sql.reserved_names import END, PLACE, RATING, plain, reserve

Layer: TypeAlias = list[tuple[str, exp.Expr]]
"""The columns that a step adds to those of the step before."""


@dataclass(frozen=True)
class Chain:
    """A computation in steps.

    Attributes
    ----------
    constants
        Numbers that are stated once.
    listed
        A query without a table: the ends and ratings that every row is combined with, and the
        numbers that go with them; None if every row stays one.
    spread
        The columns of the step that combines them.
    steps
        What each step adds.
    results
        The columns of the last step.
    condition
        Which rows of the last step to return; None for all.
    """

    constants: Layer
    listed: exp.Query | None
    spread: Layer
    steps: list[Layer]
    results: Layer
    condition: exp.Expr | None


_BINDS: dict[type[exp.Expr], int] = {exp.Add: 1, exp.Sub: 1, exp.Mul: 2, exp.Div: 2, exp.Neg: 3}
"""How tightly signs bind; comparisons bind least, and whatever has brackets of its own most."""


def _binary(sign: type[exp.Binary]) -> Callable[..., exp.Expr]:
    """Write two operands with a sign between, in brackets where the order would change.

    Also ``a + (b + c)`` keeps its brackets: floating-point numbers are rounded each time.
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


def _by_end(low: exp.Expr, high: exp.Expr) -> exp.Expr:
    return low if low == high else _where(_is_low(), low, high)


def _is_low() -> exp.Expr:
    return exp.EQ(this=column(END), expression=exp.Literal.string(LOW))


def _gather(*elements: exp.Expr) -> exp.Expr:
    """Pick what belongs to a row's rating; what most ratings share comes last."""
    texts = [element.sql() for element in elements]
    common = max(texts, key=texts.count)
    if texts.count(common) == 1:
        common = texts[-1]
    branches = [
        exp.If(this=exp.Literal.number(rating), true=element)
        for rating, (element, text) in enumerate(zip(elements, texts, strict=True), start=1)
        if text != common
    ]
    rest = elements[texts.index(common)]
    return exp.Case(this=column(RATING), ifs=branches, default=rest) if branches else rest


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
    "by_end": _by_end,
    "gathered": _gather,
    "floor": lambda a: exp.Floor(this=a),
    "where": _where,
    "missing": exp.null,
}


_WINDOWS: dict[str, type[exp.Func]] = {
    "total": exp.Sum,
    "running_total": exp.Sum,
    "running_maximum": exp.Max,
    "largest": exp.Max,
    "smallest": exp.Min,
    "at_end": exp.Max,
    "shifted": exp.Lag,
}
"""What is computed over several rows."""

_BASE = ("listed", "gathered", "by_end")
"""What is made when rows are combined with ends and ratings, if it is made of nothing else."""

_DEEPEST = 16
"""An expression this deep gets a name: for readers, and for engines whose parsers give up."""

_LONGEST = 8
"""Repeating no more than this many names costs less than a step."""

_SIGNS = ("add", "sub", "mul", "neg", "least", "greatest")
"""What costs next to nothing to compute again."""


class _Layout:
    """Which cells get a name, and in which step.

    Parameters
    ----------
    outputs
        What is computed.
    keys
        The columns that tell rows apart.
    """

    def __init__(self, outputs: Mapping[str, Operand], keys: Sequence[str]) -> None:
        self.uses: dict[int, int] = {}
        self.order: list[Cell] = []
        self.level: dict[int, int] = {}
        self.depth: dict[int, int] = {}
        self.length: dict[int, int] = {}
        self.names: dict[int, str] = {}
        for output in outputs.values():
            self._visit(output)
        operations = {cell.operation for cell in self.order}
        self.has_ends = not operations.isdisjoint(("by_end", "at_end"))
        self.has_ratings = not operations.isdisjoint(("listed", "gathered"))
        self._keys = [column(key) for key in keys]
        self._together = [*self._keys, *([column(END)] if self.has_ends else [])]
        self._words = self._find_words(outputs)
        self._taken = {c.arguments[0] for c in self.order if c.operation == "column"}
        self._taken |= {*keys, END, PLACE, RATING}
        for cell in self.order:
            self._place(cell)

    def _find_words(self, outputs: Mapping[str, Operand]) -> dict[int, str]:
        """Find a name for every cell: its own, or that of what it is part of."""
        words = {id(cell): plain(name) for name, cell in reversed(list(outputs.items()))}
        for cell in reversed(self.order):
            if cell.name is not None:
                words[id(cell)] = cell.name
            for part in _cells_in(cell):
                words.setdefault(id(part), f"{words[id(cell)].removesuffix('_part')}_part")
        return words

    def is_base(self, cell: Cell) -> bool:
        """Whether a cell is made when rows are combined with the ends and ratings."""
        inner = (part.operation for part in _cells_in(cell))
        return cell.operation in _BASE and all(operation == "column" for operation in inner)

    def _place(self, cell: Cell) -> None:
        """Settle whether a cell gets a name, and after how many steps."""
        below = max((self.level.get(id(a), 0) for a in _cells_in(cell)), default=0)
        if cell.operation == "constant" and cell.name is None:
            self.depth[id(cell)] = self.level[id(cell)] = self.length[id(cell)] = 0
            return
        if cell.operation in ("column", "constant") or self.is_base(cell):
            self.depth[id(cell)] = self.level[id(cell)] = 0
            self.length[id(cell)] = 1
            self.names[id(cell)] = (
                cell.arguments[0] if cell.operation == "column" else self._name(cell)
            )
            return
        # Not every engine has columns that are true or false, or of no type.
        plain = cell.operation not in ("missing", "gt", "ge", "lt", "le", "position")
        nested = self._nesting(cell)
        length = sum(self.length[id(a)] for a in _cells_in(cell)) or 1
        again = self.uses[id(cell)] - 1
        repeated = again * length > (_LONGEST if cell.operation in _SIGNS else 0)
        known = cell.name is not None and (length > 2 or again > 0)
        shared = plain and (repeated or known or nested >= _DEEPEST or cell.operation in _WINDOWS)
        self.depth[id(cell)] = 0 if shared else nested
        self.length[id(cell)] = 1 if shared else length
        self.level[id(cell)] = below + shared
        if shared:
            self.names[id(cell)] = self._name(cell)

    def _name(self, cell: Cell) -> str:
        name = plain_name = reserve(self._words[id(cell)])
        count = 1
        while name in self._taken:
            count += 1
            name = f"{plain_name}_{count}"
        self._taken.add(name)
        return name

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
        if cell.operation == "constant":
            return number(cell.arguments[0])
        if cell.operation in _WINDOWS:
            return self._write_window(cell)
        if cell.operation == "position":
            return _position(*cell.arguments)
        return _SQL[cell.operation](*(self.write(a) for a in cell.arguments))

    def _write_window(self, cell: Cell) -> exp.Expr:
        """Write what is computed over the rows of an item, or of one end of it."""
        first, *rest = cell.arguments
        value, over = self.write(first), self._together
        if cell.operation == "at_end":
            here = exp.EQ(this=column(END), expression=exp.Literal.string(rest[0]))
            value = exp.Case(ifs=[exp.If(this=here, true=value)])
            over = self._keys
        order = _order(rest[-1]) if cell.operation in _ORDERED else None
        window = exp.Window(
            this=_WINDOWS[cell.operation](this=value),
            partition_by=[key.copy() for key in over],
            order=order,
        )
        if cell.operation == "shifted":
            return exp.Coalesce(this=window, expressions=[self.write(rest[0])])
        if order is not None:
            window.set(
                "spec",
                exp.WindowSpec(
                    kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
                ),
            )
        return window

    def needs(self, cell: Operand, top: bool = False) -> set[str]:
        """Names that a cell's expression refers to."""
        if not isinstance(cell, Cell):
            return set()
        if not top and id(cell) in self.names:
            return {self.names[id(cell)]}
        return set().union(*(self.needs(a) for a in _cells_in(cell)))


_ORDERED = ("running_total", "running_maximum", "shifted")
"""What depends on the order of the rows."""


def _order(order: Order) -> exp.Order:
    name, _, down = order.partition(" ")
    by = column(RATING if name == "rating" else PLACE)
    return exp.Order(expressions=[exp.Ordered(this=by, desc=True) if down else by])


def _position(order: Order, size: int) -> exp.Expr:
    name, _, down = order.partition(" ")
    by = column(RATING if name == "rating" else PLACE)
    return _SQL["sub"](number(size + 1), by) if down else by


def _cells_in(cell: Cell) -> Iterable[Cell]:
    return (a for a in cell.arguments if isinstance(a, Cell))


def lay_out(outputs: Mapping[str, Operand], keys: Sequence[str]) -> Chain:
    """Lay a computation out in steps.

    Parameters
    ----------
    outputs
        Named results.
    keys
        The columns of the table that tell rows apart; they are handed on to the end.
    """
    layout = _Layout(outputs, keys)
    plan = _Plan(layout, outputs)
    steps = [
        [(name, layout.write(plan.made[name], top=True)) for name in made] for made in plan.steps()
    ]
    results: Layer = [(name, layout.write(cell)) for name, cell in outputs.items()]
    spread: Layer = [(key, column(key)) for key in keys]
    spread += [(name, column(name)) for name in plan.kept if name not in keys]
    conditions: list[exp.Expr] = []
    if layout.has_ends:
        conditions.append(_is_low())
    if layout.has_ratings:
        conditions.append(exp.EQ(this=column(PLACE), expression=exp.Literal.number(1)))
    constants: Layer = [
        (layout.names[id(c)], exp.cast(_decimal(c.arguments[0]), "double"))
        for c in layout.order
        if c.operation == "constant" and c.name is not None
    ]
    if not conditions:
        return Chain(constants, None, spread, steps, results, None)
    base = {layout.names[id(c)]: c for c in layout.order if layout.is_base(c)}
    for name, cell in sorted(base.items()):
        if cell.operation != "listed":
            spread.append((name, layout.write(cell, top=True)))
    return Chain(constants, _list_rows(layout, base), spread, steps, results, exp.and_(*conditions))


def _decimal(value: float) -> exp.Expr:
    """Write a number that is cast: with few digits no engine rounds it on the way."""
    text = repr(abs(value))
    if len(text) > _EXACT or "e" in text:
        return number(value)
    literal = exp.Literal.number(text.removesuffix(".0"))
    return literal if value >= 0 else exp.Neg(this=literal)


_EXACT = 12
"""Number of characters of a decimal number that every engine reads exactly in double precision."""


def _list_rows(layout: _Layout, base: Mapping[str, Cell]) -> exp.Query:
    """List the ends and the ratings, with the numbers that go with them."""
    listed = {name: cell.arguments for name, cell in base.items() if cell.operation == "listed"}
    sizes = {
        len(cell.arguments if cell.operation == "gathered" else cell.arguments[0])
        for cell in layout.order
        if cell.operation in ("gathered", "listed")
    }
    (size,) = sizes or {1}
    rows: list[exp.Select] = []
    for side, end in enumerate((LOW, HIGH) if layout.has_ends else (LOW,)):
        for place in range(size):
            row: list[tuple[str, exp.Expr]] = []
            if layout.has_ends:
                row.append((END, exp.Literal.string(end)))
            if layout.has_ratings:
                rating = size - place if side else place + 1
                row += [(PLACE, number(place + 1)), (RATING, number(rating))]
            for name, ends in listed.items():
                value = number(ends[side][place])
                # The first row settles the types.
                row.append((name, value if rows else exp.cast(value, "double")))
            made = [exp.Alias(this=e, alias=identifier(n)) for n, e in row]
            rows.append(exp.select(*(made if not rows else (e for _, e in row))))
    return rows[0] if len(rows) == 1 else exp.union(*rows, distinct=False, copy=False)


class _Plan:
    """In which step each named column is made.

    Attributes
    ----------
    made
        The cells that get a name, each after those it is made of.
    needs
        Names that each is made of; "" stands for the results.
    kept
        Columns of the table that are needed.
    """

    def __init__(self, layout: _Layout, outputs: Mapping[str, Operand]) -> None:
        named = {layout.names[id(c)]: c for c in layout.order if id(c) in layout.names}
        base = {name for name, c in named.items() if c.operation == "constant" or layout.is_base(c)}
        given = {name for name, c in named.items() if c.operation == "column"}
        self.made = {name: c for name, c in named.items() if name not in base | given}
        self.needs = {name: layout.needs(c, top=True) for name, c in self.made.items()}
        self.needs[""] = set().union(*(layout.needs(cell) for cell in outputs.values()))
        needed = set().union(*self.needs.values())
        self.kept = [name for name in named if name in given & needed]
        self._level = {name: layout.level[id(c)] for name, c in self.made.items()}
        self._level[""] = 1 + max(self._level.values(), default=0)
        self._delay()

    def steps(self) -> list[list[str]]:
        """Names to make in each step."""
        steps: list[list[str]] = [[] for _ in range(self._level[""] - 1)]
        for name in self.made:
            steps[self._level[name] - 1].append(name)
        return [sorted(step) for step in steps]

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
