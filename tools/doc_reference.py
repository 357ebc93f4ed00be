"""Write the reference pages that come from the code: commands, the REST interface, the notes.

Nothing here repeats what the code declares; a page is as new as the site.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import click


def write_reference(folder: Path) -> None:
    """Write every generated page into the folder of the reference."""
    (folder / "commands.md").write_text(commands_page(), encoding="utf-8")
    (folder / "rest.md").write_text(rest_page(), encoding="utf-8")
    (folder / "notes.md").write_text(notes_page(), encoding="utf-8")


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


def definitions(entries: list[tuple[str, str]]) -> str:
    """Write a list of terms with their meaning, which fits a phone better than a table."""
    return "".join(f"{term}\n: {meaning or '–'}\n\n" for term, meaning in entries)


def cell(text: str) -> str:
    """Write a text on one line, as a cell of a table or a definition, with options as code."""
    line = re.sub(r"\s+", " ", text).strip().replace("|", r"\|").replace("<", "&lt;")
    return re.sub(r"(?<![\w`-])(--[a-z][\w-]*)", r"`\1`", line)


def code(text: str) -> str:
    """Write a text as code."""
    return f"`{text}`"


# Commands


_COMMANDS = """# Commands

`unheard COMMAND --help` shows the same in a terminal. Every command ends with code 0 when it is
done, 2 for input that it cannot use, 1 for a fault of its own, and 130 after Ctrl-C. With `--json`,
standard output holds one JSON document and nothing else; messages go to standard error.

"""


def commands_page() -> str:
    """Write the reference of the commands from the tree of click."""
    from unheard.cli.main import cli
    from unheard.options.questions import GROUPS

    context = click.Context(cli, info_name="unheard")
    text = _COMMANDS
    for group in GROUPS:
        text += f"## {group.title}\n\n"
        text += "".join(command_section(one, cli.commands[one], context) for one in group.names)
    return text


def command_section(name: str, command: click.Command, parent: click.Context) -> str:
    """Write one command: its usage, what it does, its examples and its options."""
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    entries = [option_entry(one, context) for one in options]
    text = f"### unheard {name}\n\n```text\n{usage}\n```\n\n{help_text(command)}"
    return text + definitions(entries)


def help_text(command: click.Command) -> str:
    """Write the help of a command; paragraphs that click keeps as they are become code."""
    text = ""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            lines = paragraph.splitlines()[1:]
            heading, examples = lines[0], inspect.cleandoc("\n".join(["", *lines[1:]]))
            text += f"{heading}\n\n```sh\n{examples}\n```\n\n"
        else:
            text += cell(paragraph) + "\n\n"
    return text


def option_entry(option: click.Option, context: click.Context) -> tuple[str, str]:
    """Write one option: its names and value, and its help with the default."""
    record = option.get_help_record(context)
    assert record is not None
    names, meaning = record
    return code(names), cell(meaning)


# REST


def rest_page() -> str:
    """Write the reference of the REST interface from the schema of the application."""
    from fastapi import FastAPI

    from unheard.web.api import routes

    app = FastAPI()
    app.include_router(routes.router, prefix="/api/v1")
    schema = app.openapi()
    operations = {
        f"{method.upper()} {path}": operation
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    }
    answers = [operation["responses"] for operation in operations.values()]
    common = {k: v for k, v in answers[0].items() if all(one.get(k) == v for one in answers)}
    errors = [(code(status), cell(answer["description"])) for status, answer in common.items()]
    return (
        "# REST interface\n\n"
        "`unheard serve` answers these requests; the schema itself is at `/api/v1/openapi.json`. "
        "[Run the server](../howto/serve.md) has examples and limits.\n\n"
        "## Errors\n\nEvery request may be answered by `application/problem+json` with one of:\n\n"
        + definitions(errors)
        + "".join(operation_section(*one, common) for one in operations.items())
        + "".join(schema_section(*one) for one in schema["components"]["schemas"].items())
    )


def operation_section(name: str, operation: Any, common: Any) -> str:
    """Write one request: what it does, its parameters, its body and its own answers."""
    text = f"## {name}\n\n{operation.get('description') or operation['summary']}\n\n"
    if parameters := operation.get("parameters"):
        text += "Query:\n\n" + definitions(
            [field_entry(p["name"], p, p["schema"]) for p in parameters]
        )
    if body := operation.get("requestBody"):
        text += "Body: " + " or ".join(code(kind) for kind in body["content"]) + "\n\n"
        text += "".join(fields(part["schema"]) for part in body["content"].values())
    for status, answer in operation["responses"].items():
        if status not in common:
            text += f"Answer {code(status)}: {answer_text(answer)}\n\n"
    return text


def answer_text(answer: Any) -> str:
    """Write what an answer holds: its media types, and its schema where it has one."""
    parts = []
    for kind, part in answer.get("content", {}).items():
        what = type_text(part.get("schema", {}))
        parts.append(f"{code(kind)}, {what}" if what != "any" else code(kind))
    return "; ".join(parts) or cell(answer["description"])


def schema_section(name: str, schema: Any) -> str:
    """Write one schema by its fields."""
    text = f"(schema-{name.lower()})=\n## Schema: {name}\n\n"
    if "description" in schema:
        text += cell(schema["description"]) + "\n\n"
    return text + fields(schema)


def fields(schema: Any) -> str:
    """Write the fields of an object; nothing if it has none."""
    required = schema.get("required", [])
    return definitions(
        [
            field_entry(name, one, one, name in required)
            for name, one in schema.get("properties", {}).items()
        ]
    )


def field_entry(name: str, described: Any, schema: Any, required: bool = False) -> tuple[str, str]:
    """Write one field: its name and type, and what it means."""
    kind = type_text(schema) + (", required" if required else "")
    return f"{code(name)} ({kind})", meaning_text(described, schema)


def meaning_text(described: Any, schema: Any) -> str:
    """Write what a field means, and its default if that is not null."""
    text = cell(described.get("description", schema.get("description", "")))
    default = schema.get("default")
    return text if default is None else f"{text} Default: {code(json.dumps(default))}.".strip()


def type_text(schema: Any) -> str:
    """Write the type of a value as a reader would say it."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#schema-{name.lower()})"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            parts = [type_text(one) for one in schema[key] if one.get("type") != "null"]
            return " or ".join(dict.fromkeys(parts))
    if "enum" in schema:
        return " or ".join(code(json.dumps(one)) for one in schema["enum"])
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        return f"list of {type_text(items)}" if items else "list"
    return str(schema.get("type", "any"))


# Notes


def notes_page() -> str:
    """Write what each note on a result means, the presets for q, and the methods."""
    import unheard as uh

    notes = [[code(name), cell(text)] for name, text in uh.NOTE_TEXTS.items()]
    presets = [[code(name), f"{q:g}"] for name, q in uh.PRESETS.items()]
    return (
        "# Notes, presets and methods\n\n"
        "```{py:data} unheard.NOTE_TEXTS\nWhat each note on a result means.\n```\n\n"
        + table(["note", "meaning"], notes)
        + "```{py:data} unheard.PRESETS\nValues of q by name: "
        "[where they come from](../howto/choose-q.md).\n```\n\n"
        + table(["preset", "q"], presets)
        + "```{py:data} unheard.METHODS\nThe methods of {py:func}`unheard.estimate`: "
        "[what they are](../mathematics.md#estimators).\n```\n\n"
        + ", ".join(code(name) for name in uh.METHODS)
        + "\n"
    )
