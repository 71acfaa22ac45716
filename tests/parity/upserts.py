"""Every case of the corpus also as a plan whose sinks take upserts.

A sink whose query has an upsert key becomes a table of another connector with that key as its primary key.  Flink, of
which PyPI has no such sink, runs the same plan with ``print`` in its place: what changes reach the sink, and how, is
settled by the plan.  What counts is the content by key in the end.  Flink's stands in ``upserts/``, a file a case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from flinkplan.plan.document import Plan
from flinkplan.plan.types import LogicalType
from flinkplan.plan.types.parser import parse_type
from flinkplan.planner import compile_script
from flinkplan.planner.sql import ast, parse_script
from tests.parity.corpus import HERE, SESSION_OPTIONS, Case, cases

RECORDED = HERE / "upserts"
SETTINGS = """\
SET 'table.exec.sink.require-on-conflict' = 'false';
SET 'table.exec.sink.not-null-enforcer' = 'DROP';
"""
PLAIN = frozenset(
    {"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR", "DATE", "TIME"}
    | {"TIMESTAMP"}
)
"""The types whose texts can be compared."""

Content = list[list[str | None]]
"""The rows of a table, values as texts, sorted."""


@dataclass(frozen=True)
class UpsertSink:
    """A table that takes upserts: the types of its columns c0, c1, …, and the indexes of those of its key."""

    name: str
    types: tuple[LogicalType, ...]
    key: tuple[int, ...]

    def statement(self, options: Mapping[str, str]) -> str:
        """The statement that makes it."""
        key = ", ".join(f"c{i}" for i in self.key)
        columns = ", ".join(f"c{i} {t}" for i, t in enumerate(self.types))
        with_ = ", ".join(f"'{name}' = '{value}'" for name, value in options.items())
        return f"CREATE TABLE `{self.name}` ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH ({with_})"

    def content(self, changes: Iterable[tuple[str, Sequence[str | None]]]) -> Content:
        """What is left of changes in their order: their kinds (``+I``), and their values as texts."""
        rows: dict[tuple[str | None, ...], list[str | None]] = {}
        for kind, values in changes:
            row = [_canonical(value, t) for value, t in zip(values, self.types, strict=True)]
            key = tuple(row[i] for i in self.key)
            if kind in ("+I", "+U"):
                rows[key] = row
            else:  # a row before an update is deleted, too, as Flink's sinks do
                rows.pop(key, None)
        return sorted(rows.values(), key=repr)


@dataclass(frozen=True)
class UpsertCase:
    """A case with the sinks that take upserts."""

    case: Case
    sinks: tuple[UpsertSink, ...]

    @property
    def name(self) -> str:
        return self.case.name

    def compile(self, options: Mapping[str, Mapping[str, str]]) -> Plan:
        """The plan whose sinks have these options, by their names."""
        script = self.case.pipeline
        tables = [s for s in parse_script(script).statements if isinstance(s, ast.CreateTable)]
        for table in reversed(tables):
            for sink in self.sinks:
                if table.name.names[-1] == sink.name:
                    made = sink.statement(options[sink.name])
                    script = script[: table.span.start] + made + script[table.span.end :]
        return compile_script(SETTINGS + script, options=SESSION_OPTIONS)

    def recorded(self) -> dict[str, Content]:
        """What Flink leaves in each sink."""
        found: dict[str, Content] = json.loads((RECORDED / f"{self.name}.json").read_text("utf-8"))
        return found


@cache
def upsert_cases() -> tuple[UpsertCase, ...]:
    """The cases whose plans have sinks with an upsert key, of types whose texts can be compared."""
    found = []
    for case in cases():
        if case.compiles and case.runs and (sinks := tuple(_sinks(case))):
            found.append(UpsertCase(case, sinks))
    return tuple(found)


def _sinks(case: Case) -> Iterable[UpsertSink]:
    for node in json.loads(case.plan_file.read_text("utf-8"))["nodes"]:
        if not node["type"].startswith("stream-exec-sink"):
            continue
        table = node["dynamicTableSink"]["table"]
        schema = table["resolvedTable"]["schema"]
        types = tuple(parse_type(column["dataType"]) for column in schema["columns"])
        key = node.get("inputUpsertKey")
        if "primaryKey" in schema:
            names = [column["name"] for column in schema["columns"]]
            key = [names.index(name) for name in schema["primaryKey"]["columns"]]
        if key and all(t.root in PLAIN for t in types):
            yield UpsertSink(table["identifier"].rpartition("`.`")[2].strip("`"), types, tuple(key))


_PRINTED = re.compile(r"([+-][IUD])\[(.*)\]")


def printed(line: str, width: int) -> tuple[str, list[str | None]]:
    """The kind and the values of a row as Flink prints it.

    Raises :class:`ValueError` where a comma within a text hides where values end.
    """
    if (match := _PRINTED.fullmatch(line)) is None:
        raise ValueError(f"no row: {line}")
    values = match[2].split(", ")
    if len(values) != width:
        raise ValueError(f"not {width} values: {line}")
    return match[1], [None if value == "null" else value for value in values]


_TIME = re.compile(r"(?:(\d{4,}-\d\d-\d\d)[T ])?(\d\d:\d\d)(:\d\d)?(?:\.(\d+))?")


def _canonical(value: Any, t: LogicalType) -> str | None:
    """One of the several spellings of a value."""
    if value is None or value == "null":
        return None
    text = str(value)
    if t.root in ("FLOAT", "DOUBLE"):
        return repr(float(text))
    if t.root == "BOOLEAN":
        return text.lower()
    if t.root in ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL"):
        return format(Decimal(text).normalize(), "f")
    if t.root in ("TIME", "TIMESTAMP") and (match := _TIME.fullmatch(text)):
        date, minute, second, fraction = match.groups()
        fraction = (fraction or "").rstrip("0")
        return f"{date or ''} {minute}{second or ':00'}{f'.{fraction}' if fraction else ''}".strip()
    return text
