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
_BREAKS = frozenset(("+", "-", "*", "/", "||", "AND", "OR", "WHEN", "ELSE", "END", "ON"))
"""A line may end before these, and behind a comma."""

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
        return [f"{pad}SELECT", *_items(tokens[1:], indent + 2)]
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
            lines.append(pad)
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
    items: list[list[Token]] = [[]]
    for token in tokens:
        items[-1].append(token)
        if token == ",":
            items.append([])
    return _filled(items, indent)


def _filled(items: Iterable[Sequence[Token]], indent: int) -> list[str]:
    lines: list[str] = []
    line = ""
    for item in items:
        text = _flat(item)
        if line and indent + len(line) + 1 + len(text) <= _WIDTH:
            line = f"{line} {text}"
            continue
        if line:
            lines.append(" " * indent + line)
        line = text
        if indent + len(text) > _WIDTH:
            *broken, last = _wrapped(item, indent)
            lines += broken
            line = last[indent:]
    return [*lines, " " * indent + line]


def _wrapped(tokens: Sequence[Token], indent: int) -> list[str]:
    """Break what is too long for a line before operators, the outermost first."""
    pieces: list[list[Token]] = [[]]
    for token in tokens:
        if isinstance(token, str) and token in _BREAKS and pieces[-1]:
            pieces.append([])
        pieces[-1].append(token)
        if token == ",":
            pieces.append([])
    pieces = [piece for piece in pieces if piece]
    if len(pieces) > 1:
        first, *rest = pieces
        lines = _filled([first], indent)
        more = _filled(rest, indent + 2)
        if len(lines[-1]) + len(more[0].strip()) + 1 <= _WIDTH:
            # Fill the first line too.
            return _filled_on(lines, rest, indent + 2)
        return lines + more
    return _opened(tokens, indent)


def _filled_on(lines: list[str], pieces: Sequence[Sequence[Token]], indent: int) -> list[str]:
    """Go on behind the last line."""
    lines = list(lines)
    for place, piece in enumerate(pieces):
        text = _flat(piece)
        if len(lines[-1]) + 1 + len(text) > _WIDTH:
            return lines + _filled(pieces[place:], indent)
        lines[-1] = f"{lines[-1]} {text}"
    return lines


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
