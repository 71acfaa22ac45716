"""The scripts of the tests of Flink's SQL client: statements, each with what the client prints.

The folder with the scripts (``flink-table/flink-sql-client/src/test/resources/sql`` of Flink's sources) is named by the
environment variable FLINK_SQL_SCRIPTS; without it the test is skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.plan.record import Record
from tests.cli.sql_gateway.client import Client, StatementError

pytestmark = [pytest.mark.nightly("needs the sources of Flink"), pytest.mark.spark]

OUT_OF_REACH = {
    "call_procedure": ("", "procedures come from catalogs in Java"),
    "delete": (r"(DELETE|SELECT)\b", "DELETE, and a connector of Flink's tests"),
    "truncate": (r"(TRUNCATE|SELECT)\b", "TRUNCATE, and a connector of Flink's tests"),
    "module": (r".*\bdummy\b|SHOW (FULL )?MODULES|UNLOAD", "a module of Flink's tests"),
    "set": (r"set;|SELECT id, func1", "what the client and the cluster set, and a jar of Flink's tests"),
    "function": ("SELECT", "a jar of Flink's tests"),
    "table": ("explain json_execution_plan insert", "operators of Kafka's sink"),
    "misc": ("help", "a command of the client"),
}
"""For each script a pattern of statements that cannot be executed here, and why."""
LEAST = 0.95
_VARIABLE = re.compile(r"\$VAR_\w+?(_PATH)?(_DASH|_SPACE)?\b")
_KINDS = {"INSERT": "+I", "UPDATE_BEFORE": "-U", "UPDATE_AFTER": "+U", "DELETE": "-D"}


class Block(Record):
    """A statement and what the client prints for it; ``tag`` is ok, info or error."""

    statement: str
    printed: tuple[str, ...]
    tag: str


def blocks(script: str) -> Iterator[Block]:
    """The statements of a script."""
    lines: list[str] = []
    for line in script.splitlines():
        tag = re.fullmatch(r"!(ok|info|error|warning)", line)
        if tag is None:
            lines.append(line)
            continue
        for i, each in enumerate(lines[:-1], 1):
            if each.rstrip().endswith(";") and re.match(r"\[|\+-|Empty set|The following", lines[i]):
                statement = "\n".join(x for x in lines[:i] if not x.startswith(("#", "--"))).strip()
                yield Block(statement, tuple(lines[i:]), tag[1])
                break
        lines = []


def table(printed: tuple[str, ...]) -> tuple[list[str], list[list[str]]]:
    """The names of columns and the rows of a printed table."""
    if printed[0].startswith("Empty set"):
        return [], []
    rules = [i for i, line in enumerate(printed) if line == printed[0]]
    head, *rows = [*_rows(printed[1 : rules[1]], printed[0]), *_rows(printed[rules[1] + 1 : rules[-1]], printed[0])]
    return head, rows


def _rows(lines: tuple[str, ...], rule: str) -> Iterator[list[str]]:
    """The cells of rows, which may have line breaks."""
    count, text = rule.count("+") - 1, ""
    for line in lines:
        text = f"{text}\n{line}" if text else line
        if text.endswith("|") and text.count(" |") >= count:
            cells = text[1:-1].split(" |") if count > 1 else [text[1:-1].removesuffix(" ")]
            yield [cell.strip(" ") for cell in cells]
            text = ""


def agrees(client: Client, block: Block) -> bool:
    """Whether the gateway answers as the client prints; of errors the class is compared."""
    try:
        result = client.execute(block.statement)
    except StatementError as e:
        return block.tag == "error" and block.printed[1].split(": ")[0] == e.java_class
    if block.tag != "ok":
        return block.tag == "info"
    names, expected = table(block.printed)
    null = "<NULL>" if result["isQueryResult"] else ""
    rows = [[null if cell is None else cell.strip(" ") for cell in fields] for _, fields in result["rows"]]
    if names[:1] == ["op"]:
        rows = [[_KINDS[kind], *row] for (kind, _), row in zip(result["rows"], rows, strict=True)]
    return len(rows) == len(expected) and all(map(_same, rows, expected))


def _same(row: list[str], expected: list[str]) -> bool:
    """Whether cells are equal, but for those that the client cuts; scripts leave out numbers of operators."""
    return len(row) == len(expected) and all(
        _without_numbers(cell) == shown or (shown.endswith("...") and cell.startswith(shown[:-3]))
        for cell, shown in zip(row, expected, strict=True)
    )


def _without_numbers(cell: str) -> str:
    """A cell with the graph of a job as the scripts have it."""
    text, title, graph = cell.partition("== Physical Execution Plan ==")
    return text + title + re.sub(r'(?<="id" :) \d+|(?<=\[)\d+(?=\])', lambda m: " " if m[0][0] == " " else "", graph)


def test_statements_answer_as_the_client_prints(url: str, tmp_path: Path) -> None:
    folder = os.environ.get("FLINK_SQL_SCRIPTS")
    if folder is None:
        pytest.skip("FLINK_SQL_SCRIPTS names no folder")
    count, differing = 0, []
    for script in sorted(Path(folder).glob("*.q")):
        client = Client(url).open()
        pattern, _ = OUT_OF_REACH.get(script.stem, ("(?!)", ""))
        for block in blocks(_filled(script.read_text("utf-8"), tmp_path / script.stem)):
            answer = agrees(client, block)
            if not re.match(pattern, block.statement, re.IGNORECASE | re.DOTALL):
                count += 1
                differing += [] if answer else [f"{script.stem}: {block.statement}"]
    assert count > 0
    assert 1 - len(differing) / count >= LEAST, differing


def _filled(script: str, folder: Path) -> str:
    """The script with its variables: folders and jars; dashes and spaces only widen its tables."""

    def value(match: re.Match[str]) -> str:
        if match[2]:
            return "-" if match[2] == "_DASH" else ""
        return str(folder / match[0].removeprefix("$VAR_").lower())

    return _VARIABLE.sub(value, script)
