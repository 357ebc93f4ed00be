"""Lines that people can read: clauses below each other, short columns side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from sqlglot import Dialect

_WIDTH = 100

_CLAUSE = re.compile(r"(WITH|SELECT|FROM|CROSS|LEFT|JOIN|WHERE|GROUP|ORDER|UNION)\Z")
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
    before: list[Token] = []
    clauses = _clauses(tokens)
    for place, clause in enumerate(clauses, start=1):
        more = _clause(clause, indent)
        short = clause[0] == "FROM" and place == len(clauses)
        short = short or clause[0] in ("UNION", "CROSS", "LEFT", "WHERE", "GROUP")
        short = short or before[:1] == ["UNION"]
        if lines and short and not _is_comment(before) and len(more) == 1:
            together = f"{lines[-1]} {more[0].strip()}"
            if len(together) <= _WIDTH:
                more = [together]
                lines.pop()
        lines += more
        before = clause
    return lines


def _is_comment(tokens: Sequence[Token]) -> bool:
    return isinstance(tokens[0], str) and tokens[0].startswith("/*")


def _clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    clauses: list[list[Token]] = [[]]
    for place, token in enumerate(tokens):
        starts = isinstance(token, str) and (_CLAUSE.match(token) or token.startswith("/*"))
        joined = token == "JOIN" and tokens[place - 1] in ("CROSS", "LEFT")
        if starts and not joined and clauses[-1]:
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
        return _wrap(tokens, pad, indent + 2)
    lines = [pad]
    before: list[Token] = []
    for token in tokens:
        if isinstance(token, list) and _is_query(token):
            lines[-1] = _join(lines[-1], _flat(before)) + " ("
            inner = _query(token, indent + 2)
            if _is_comment(token) and len(lines[-1]) + len(inner[0].strip()) < _WIDTH:
                lines[-1] += f" {inner.pop(0).strip()}"
            lines += [*inner, f"{pad})"]
            before = []
        elif token == "," and not before:
            lines[-1] += ","
        else:
            before.append(token)
    if before:
        lines[-1] = _join(lines[-1], _flat(before))
    return lines


def _join(line: str, text: str) -> str:
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
    # The first line begins with SELECT.
    lines = [" " * (indent + 3)]
    for item in items:
        text, room = _flat(item), _WIDTH - len(lines[-1])
        if room <= len(text) and (len(text) <= _WIDTH - indent or room < _SHORT):
            lines.append(" " * indent)
        wrapped = _wrap(item, lines[-1], indent + 2)
        if len(wrapped[0]) > _WIDTH:
            lines.append("")
            wrapped = _wrap(item, " " * indent, indent + 2)
        lines[-1:] = wrapped
    return [line for line in lines if line.strip()]


_SHORT = 30
"""A long column begins on the line of the one before if so much is left of it."""

_LOOSE = {
    **dict.fromkeys(("AS", "AND", "OR", "ON", "||"), 0),
    **dict.fromkeys(("<", ">", "<=", ">="), 1),
    **dict.fromkeys(("+", "-"), 2),
    **dict.fromkeys(("*", "/", "WHEN", "ELSE", "END"), 3),
}
"""What lines end before, and how tightly it binds."""

_DEPTH = 2
"""Brackets count for so many steps of tightness."""

_CASE = 2
"""CASE and END count for so many brackets."""

_COMMA = 2
"""What follows a comma in brackets binds as terms do, so that calls stay on a line."""


def _wrap(tokens: Sequence[Token], line: str, indent: int) -> list[str]:
    """Write behind the beginning of a line; break before what binds loosest in its last third."""
    words = list(_words(tokens, 0))
    lines: list[str] = []
    while words:
        ends: list[tuple[int, int]] = []
        text = line
        for place, (word, glued, tightness) in enumerate(words):
            joined = text if glued or not text.strip() else f"{text} "
            if len(joined) + len(word) > _WIDTH and ends:
                late = [end for end in ends if end[1] >= ends[-1][1] - 4] or ends
                break
            if place and tightness is not None:
                ends.append((tightness, place))
            text = joined + word
        else:
            return [*lines, text]
        _, place = min(late, key=lambda end: (end[0], -end[1]))
        lines.append(_write_words(line, words[:place]))
        words, line = words[place:], " " * indent
    return [*lines, line] if line.strip() else lines


def _write_words(line: str, words: Iterable[tuple[str, bool, int | None]]) -> str:
    for word, glued, _ in words:
        line += word if glued or not line.strip() else f" {word}"
    return line


def _words(tokens: Sequence[Token], depth: int) -> Iterator[tuple[str, bool, int | None]]:
    """List words, whether they touch the one before, and how tightly they are bound to it."""
    before: Token = ""
    after_comma = False
    cases = 0
    for place, token in enumerate(tokens):
        first = place == 0 and depth > 0
        cases -= token == "END"
        if isinstance(token, list):
            glued = not before or _is_call(before)
            yield (
                "(",
                glued and (depth > 0 or before != ""),
                depth * _DEPTH if after_comma else None,
            )
            yield from _words(token, depth + cases * _CASE + 1)
            yield ")", True, None
        else:
            binds = _LOOSE.get(token)
            if (
                first
                or not before
                or before == "CASE"
                or (token == "-" and isinstance(before, str) and before in _LOOSE)
            ):
                binds = None
            if after_comma:
                binds = _COMMA if depth else 0
            within = cases - (token in ("WHEN", "ELSE"))
            tightness = None if binds is None else binds + (depth + within * _CASE) * _DEPTH
            yield token, first or token == ",", tightness
            cases += token == "CASE"
        after_comma = token == ","
        before = token
