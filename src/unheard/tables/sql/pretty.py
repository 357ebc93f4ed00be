"""Lines that people can read: clauses below each other, short columns side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from sqlglot import Dialect

_WIDTH = 100

_CLAUSES = (
    "WITH", "SELECT", "FROM", "CROSS JOIN", "LEFT JOIN", "JOIN", "WHERE", "GROUP BY", "ORDER BY",
    "UNION ALL", "LIMIT", "OFFSET",
)  # fmt: skip
_CLAUSE = re.compile(r"(WITH|SELECT|FROM|CROSS|LEFT|JOIN|WHERE|GROUP|ORDER|UNION|LIMIT|OFFSET)\Z")
Token: TypeAlias = "str | list[Token]"
"""A word, or what stands in brackets."""


def write_lines(sql: str, dialect: str) -> str:
    """Break a query in one line into lines of some hundred characters."""
    words = _split(sql, dialect)
    tokens, rest = _nest(words, 0)
    assert rest == len(words), "brackets must be balanced"
    return "\n".join(_query(tokens, 0))


def _split(sql: str, dialect: str) -> list[str]:
    """Split a query into words, brackets and commas; what is in quotes or a comment is a word."""
    escapes = Dialect.get_or_raise(dialect).tokenizer_class.STRING_ESCAPES
    inside = r"[^'\\]|\\.|''" if "\\" in escapes else r"[^']|''"
    quoted = rf"'(?:{inside})*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[(?:[^\]]|\]\])*\]"
    # What follows a quote or stands before one without a space belongs to it: names with dots.
    return re.findall(rf"/\*.*?\*/|[(),]|(?:{quoted}|[^\s(),'\"`\[])+", sql, re.DOTALL)


def _nest(words: Sequence[str], start: int) -> tuple[list[Token], int]:
    found: list[Token] = []
    place = start
    while place < len(words):
        word = words[place]
        if word == ")":
            return found, place
        if word == "(":
            inner, place = _nest(words, place + 1)
            found.append(inner)
        else:
            found.append(word)
        place += 1
    return found, place


def _flat(tokens: Iterable[Token]) -> str:
    """Write tokens in one line."""
    text = ""
    before: Token = ""
    for token in tokens:
        word = token if isinstance(token, str) else f"({_flat(token)})"
        glued = not text or word == "," or (isinstance(token, list) and _is_call(before))
        text += word if glued else f" {word}"
        before = token
    return text


_SPACED = frozenset(
    ("AS", "IN", "OVER", "FROM", "JOIN", "ON", "BY", "WHERE", "AND", "OR", "THEN", "ELSE", "WHEN",
     "NOT", "MATERIALIZED", "ALL", "SELECT", "=", "<", ">", "<=", ">=", "<>", "+", "-", "*", "/",
     "||", ",", "CASE", "VALUES", "BETWEEN", "UNION", "AS", "WITH", "VIEW")
)  # fmt: skip


def _is_call(before: Token) -> bool:
    """Whether brackets behind a word are those of a function."""
    return isinstance(before, str) and before.upper() not in _SPACED


def _query(tokens: Sequence[Token], indent: int) -> list[str]:
    """Write a query, each clause on a line or more of its own."""
    lines: list[str] = []
    for clause in _clauses(tokens):
        lines += _clause(clause, indent)
    return lines


def _clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    clauses: list[list[Token]] = [[]]
    for place, token in enumerate(tokens):
        starts = isinstance(token, str) and (_CLAUSE.match(token) or token.startswith("/*"))
        if starts and token == "JOIN" and tokens[place - 1] in ("CROSS", "LEFT"):
            starts = None
        if starts and clauses[-1]:
            clauses.append([])
        clauses[-1].append(token)
    return clauses


def _clause(tokens: Sequence[Token], indent: int) -> list[str]:
    pad = " " * indent
    is_query = any(isinstance(token, list) and _is_query(token) for token in tokens)
    if not is_query and len(pad + _flat(tokens)) <= _WIDTH:
        return [pad + _flat(tokens)]
    if tokens[0] == "SELECT":
        first, *rest = _items(tokens[1:], indent + 4)
        return [f"{pad}SELECT {first.strip()}", *rest]
    if not is_query:
        return _wrapped(tokens, indent)
    lines, before = [pad], []
    for token in tokens:
        if isinstance(token, list) and _is_query(token):
            lines[-1] = _joined(lines[-1], _flat(before)) + " ("
            lines += [*_query(token, indent + 2), f"{pad})"]
            before = []
        elif token == "," and not before:
            lines[-1] += ","
        else:
            before.append(token)
    if before:
        lines[-1] = _joined(lines[-1], _flat(before))
    return lines


def _joined(line: str, text: str) -> str:
    return f"{line} {text}" if line.strip() else f"{line}{text}"


def _is_query(tokens: Sequence[Token]) -> bool:
    words = [token for token in tokens if isinstance(token, str) and not token.startswith("/*")]
    return bool(words) and words[0] in ("SELECT", "WITH")


def _items(tokens: Sequence[Token], indent: int) -> list[str]:
    """Write a list, as many of its items side by side as fit."""
    # The first line begins with SELECT.
    return _filled(_parts(tokens, ","), indent, " " * (indent + 3))


def _parts(tokens: Sequence[Token], sign: str) -> list[list[Token]]:
    """Split tokens behind commas, or before signs that bind loosest."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        before = sign != "," and isinstance(token, str) and token in _LEVELS[sign]
        if before and parts[-1]:
            parts.append([])
        parts[-1].append(token)
        if token == sign == ",":
            parts.append([])
    return [part for part in parts if part]


_LEVELS: dict[str, frozenset[str]] = {
    "case": frozenset(("AS", "WHEN", "ELSE", "END", "AND", "OR", "ON", "||")),
    "sum": frozenset(("+", "-", "<", ">", "<=", ">=")),
    "product": frozenset(("*", "/", "THEN")),
}
"""Lines end before these, before those that bind loosest first."""


def _filled(parts: Sequence[Sequence[Token]], indent: int, line: str = "") -> list[str]:
    """Put parts side by side as long as they fit, behind the beginning of a line."""
    pad = " " * indent
    lines: list[str] = []
    for part in parts:
        text = _flat(part)
        if line.strip() and len(line) + 1 + len(text) > _WIDTH:
            lines.append(line)
            line = ""
        if not line.strip():
            line = line or pad
            if len(line) + len(text) > _WIDTH:
                *broken, line = _wrapped(part, indent)
                lines += broken
            else:
                line += text
        else:
            line += f" {text}"
    return [*lines, line]


def _wrapped(tokens: Sequence[Token], indent: int) -> list[str]:
    """Break what is too long for a line, at what binds loosest."""
    for sign in (",", *_LEVELS):
        parts = _parts(tokens, sign)
        if len(parts) > 1:
            first, *rest = parts
            *broken, line = _filled([first], indent)
            return [*broken, *_filled(rest, indent + 2, line)]
    return _opened(tokens, indent)


def _opened(tokens: Sequence[Token], indent: int) -> list[str]:
    """Break inside the longest brackets of what has no operators outside of them."""
    pad = " " * indent
    groups = [token for token in tokens if isinstance(token, list)]
    if not groups:
        return [pad + _flat(tokens)]
    longest = max(groups, key=lambda group: len(_flat(group)))
    place = next(i for i, token in enumerate(tokens) if token is longest)
    head, tail = _flat(tokens[:place]), _flat(tokens[place + 1 :])
    gap = "" if place == 0 or _is_call(tokens[place - 1]) else " "
    inner = _wrapped(longest, indent + 2)
    first = f"{pad}{head}{gap}({inner[0].strip()}"
    if len(first) > _WIDTH:
        return [f"{pad}{head}{gap}(", *inner, _closed(pad, tail)]
    last = f"{inner[-1]})" if len(inner) > 1 else f"{first})"
    lines = [first, *inner[1:-1], last] if len(inner) > 1 else [last]
    if tail:
        lines[-1] += tail if tail.startswith(",") else f" {tail}"
    return lines


def _closed(pad: str, tail: str) -> str:
    return f"{pad})" + (tail if not tail or tail.startswith(",") else f" {tail}")
