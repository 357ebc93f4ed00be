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


def cell(text: str) -> str:
    """Write a text as one cell of a Markdown table."""
    return re.sub(r"\s+", " ", text).strip().replace("|", r"\|").replace("<", "&lt;")


def code(text: str) -> str:
    """Write a text as code within a cell."""
    return f"`{text}`".replace("|", r"\|")


# Commands


_COMMANDS = """# Commands

`unheard COMMAND --help` shows the same in a terminal. Every command ends with code 0 when it is
done, 2 for input that it cannot use, 1 for a fault of its own, and 130 after Ctrl-C. With `--json`,
standard output holds one JSON document and nothing else; messages go to standard error.

"""


def commands_page() -> str:
    """Write the reference of the commands from the tree of click."""
    from unheard.cli.main import cli

    context = click.Context(cli, info_name="unheard")
    commands = [(name, cli.get_command(context, name)) for name in cli.list_commands(context)]
    return _COMMANDS + "".join(
        command_section(name, command, context) for name, command in commands if command
    )


def command_section(name: str, command: click.Command, parent: click.Context) -> str:
    """Write one command: its usage, what it does, its examples and its options."""
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    rows = [option_row(one, context) for one in options]
    text = f"## unheard {name}\n\n```text\n{usage}\n```\n\n{help_text(command)}"
    return text + (table(["option", "meaning"], rows) if rows else "")


def help_text(command: click.Command) -> str:
    """Write the help of a command; paragraphs that click keeps as they are become code."""
    text = ""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            lines = paragraph.splitlines()[1:]
            heading, examples = lines[0], inspect.cleandoc("\n".join(["", *lines[1:]]))
            text += f"{heading}\n\n```sh\n{examples}\n```\n\n"
        else:
            text += paragraph.replace("\n", " ") + "\n\n"
    return text


def option_row(option: click.Option, context: click.Context) -> list[str]:
    """Write one option as a row: its names and value, and its help with the default."""
    record = option.get_help_record(context)
    assert record is not None
    names, meaning = record
    return [code(names), cell(meaning)]


# REST


def rest_page() -> str:
    """Write the reference of the REST interface from the schema of the application."""
    from fastapi import FastAPI

    from unheard.web.api import routes

    app = FastAPI()
    app.include_router(routes.router, prefix="/api/v1")
    schema = app.openapi()
    text = (
        "# REST interface\n\n"
        "`unheard serve` answers these requests; the schema itself is at `/api/v1/openapi.json`. "
        "[Use the REST interface](../howto/serve.md) has examples, errors and limits.\n\n"
    )
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            text += operation_section(method, path, operation)
    return text + "".join(
        schema_section(name, part) for name, part in schema["components"]["schemas"].items()
    )


def operation_section(method: str, path: str, operation: Any) -> str:
    """Write one request: what it does, its parameters, its body and its answers."""
    text = f"## {method.upper()} {path}\n\n"
    text += "\n\n".join(
        part for part in (operation.get("summary"), operation.get("description")) if part
    )
    text += "\n\n"
    if parameters := operation.get("parameters"):
        rows = [
            [code(one["name"]), type_text(one["schema"]), meaning_text(one, one["schema"])]
            for one in parameters
        ]
        text += table(["query", "type", "meaning"], rows)
    if body := operation.get("requestBody"):
        text += "The body is " + " or ".join(code(kind) for kind in body["content"]) + ".\n\n"
        text += "".join(fields_table(part["schema"]) for part in body["content"].values())
    rows = [
        [code(status), cell(answer.get("description", "")), answer_text(answer)]
        for status, answer in operation["responses"].items()
    ]
    return text + table(["status", "meaning", "content"], rows)


def answer_text(answer: Any) -> str:
    """Write what an answer holds: its media types, and its schema where it has one."""
    parts = []
    for kind, part in answer.get("content", {}).items():
        what = type_text(part.get("schema", {}))
        parts.append(f"{code(kind)}: {what}" if what != "any" else code(kind))
    return "; ".join(parts)


def schema_section(name: str, schema: Any) -> str:
    """Write one schema by its fields."""
    text = f"(schema-{name.lower()})=\n## Schema: {name}\n\n"
    if "description" in schema:
        text += schema["description"].replace("\n", " ") + "\n\n"
    return text + fields_table(schema)


def fields_table(schema: Any) -> str:
    """Write the fields of an object as a table; nothing if it has none."""
    required = schema.get("required", [])
    rows = [
        [
            code(name) + (" (required)" if name in required else ""),
            type_text(one),
            meaning_text(one, one),
        ]
        for name, one in schema.get("properties", {}).items()
    ]
    return table(["field", "type", "meaning"], rows) if rows else ""


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
