"""The connector ``jdbc``: tables of databases.

Sources: Flink's ``JdbcDynamicTableSource``, ``JdbcDynamicTableSink`` and the dialects of Derby and PostgreSQL.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ....plan.connectors.jdbc import OPERATORS, TESTS, filters
from ....plan.connectors.jdbc_urls import absolute
from ....plan.durations import parse_duration
from ....plan.errors import UnsupportedError
from ....plan.nodes import LookupJoin, TableSourceScan
from ....plan.rex import Call, InputRef, Literal, RexNode
from ....plan.specs import FilterPushDown, ProjectPushDown, SourceAbility
from ...connectors.tables import Table
from ...formats.java_types import java_row
from ...jvm.spark import T
from ...jvm.types import spark_type
from ...prepare.modes import Mode
from ..context import TranslationContext
from ..stream import SEQUENCE, Stream, column_name
from .base import TableBuilder, table_builder
from .requests import Request


@table_builder
class Jdbc(TableBuilder):
    """Rows that are read once, added, or put in the place of those of their key."""

    name = "jdbc"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:

        abilities = node.scan_table_source.abilities
        request = Request.of(table, abilities, {})
        fields = [T.StructField(column_name(i), spark_type(t)) for i, (_, t) in enumerate(request.columns)]
        schema = T.StructType([*fields, T.StructField(SEQUENCE, T.LongType(), False)])
        options = table.options
        spec = {
            **_place(table, request.columns),
            "filters": _filters(table, abilities),
            "partitions": _partitions(options),
            "fetchSize": int(options.get("scan.fetch-size", 0)),
            "autoCommit": options.get("scan.auto-commit", "true").strip().lower() == "true",
            "settles": context.needs_event_time and context.mode is not Mode.BOUNDED,
        }
        reader = context.reader.format("flinkplan.runtime.jdbc.JdbcSource").schema(schema)
        frame = reader.option("secret", json.dumps(spec)).load()  # what is called so, Spark never shows
        return Stream(frame.select(*request.outputs(frame), SEQUENCE), node.output_type)

    def lookup(self, table: Table, node: LookupJoin, context: TranslationContext) -> Any:
        abilities = node.temporal_table.lookup_table_source.abilities
        request = Request.of(table, abilities, {})
        spec = {
            **_place(table, request.columns),
            "filters": _filters(table, abilities),
            "keys": sorted(map(int, node.lookup_keys)),
            "retries": int(table.option("lookup.max-retries", "3")),
        }
        return context.runtime.jdbc.JdbcLookup.of(json.dumps(spec))

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        names = [name for name, _ in table.physical]
        return {
            "connector": self.name,
            **_place(table, table.physical),
            "primaryKey": [names.index(name) for name in table.primary_key],
            "rowsAtOnce": int(table.option("sink.buffer-flush.max-rows", "100")),
            "intervalMs": parse_duration(table.option("sink.buffer-flush.interval", "1 s")),
            "retries": int(table.option("sink.max-retries", "3")),
        }


def _place(table: Table, columns: Any) -> dict[str, Any]:
    """Where a table is, as the Java ``JdbcTable`` reads it."""
    options = table.options
    return {
        "url": absolute(options["url"]),
        "table": options["table-name"],
        "user": options.get("username"),
        "password": options.get("password"),
        "type": java_row(columns),
    }


def _filters(table: Table, abilities: Iterable[SourceAbility] | None) -> list[Any]:
    """The predicates that are the database's, as the Java ``JdbcFilter`` reads them."""
    names = [name for name, _ in table.physical]
    pushed = []
    for ability in abilities or ():
        match ability:
            case ProjectPushDown(projected_fields=paths):
                names = [names[path[0]] for path in paths]
            case FilterPushDown(predicates=predicates):
                for predicate in predicates:
                    if not filters(table.options, predicate):
                        raise UnsupportedError(
                            "a filter that is pushed into a table of 'jdbc', and which that does not take"
                        )
                    pushed.append(_filter(predicate, names))
    return pushed


def _filter(rex: RexNode, names: Sequence[str]) -> dict[str, Any]:
    match rex:
        case InputRef():
            return {"column": names[rex.index]}
        case Literal():
            return {"type": rex.type.root, "value": str(rex.value)}
    assert isinstance(rex, Call)
    return {"operator": {**OPERATORS, **TESTS}[rex.name], "operands": [_filter(o, names) for o in rex.operands]}


def _partitions(options: Mapping[str, str]) -> dict[str, Any] | None:
    if "scan.partition.column" not in options:
        return None
    bounds = {end: int(options[f"scan.partition.{end}-bound"]) for end in ("lower", "upper")}
    return {"column": options["scan.partition.column"], "count": int(options["scan.partition.num"]), **bounds}
