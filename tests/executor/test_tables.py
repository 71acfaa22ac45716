"""Tables' options are checked before Spark starts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from flinkplan.executor.checks import check_tables
from flinkplan.executor.errors import TableError
from flinkplan.executor.tables import table_name
from flinkplan.plan.specs import ContextResolvedTable
from flinkplan.planner import compile_script

from .plans import passthrough

FILES = {"connector": "filesystem", "path": "/data", "format": "json"}


@pytest.mark.parametrize(
    "options",
    [
        FILES,
        FILES | {"json.ignore-parse-errors": "TRUE", "source.monitor-interval": "10 s"},
        FILES | {"scan.watermark.idle-timeout": "1 s", "scan.watermark.emit.strategy": "on-event"},
        FILES | {"format": "csv", "csv.field-delimiter": "\\t", "csv.null-literal": ""},
        FILES | {"format": "debezium-json", "debezium-json.schema-include": "true"},
        {"connector": "datagen", "number-of-rows": "5", "fields.a.kind": "sequence", "fields.a.start": "1"}
        | {"fields.a.end": "9"},
    ],
)
def test_what_flink_takes_is_taken(options: Mapping[str, str]) -> None:
    check_tables(passthrough(options), {})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "the option 'connector' is missing"),
        ({"connector": "kafka"}, "unknown connector 'kafka'"),
        ({"connector": "filesystem", "format": "json"}, "the option 'path' is missing"),
        ({"connector": "filesystem", "path": "/data"}, "the option 'format' is missing"),
        (FILES | {"format": "avro"}, "unknown format 'avro'"),
        (FILES | {"json.ignore-parse-error": "true"}, "did you mean 'json.ignore-parse-errors'?"),
        (FILES | {"json.ignore-parse-errors": "yes"}, "is neither true nor false"),
        (FILES | {"json.timestamp-format.standard": "RFC"}, "is none of SQL, ISO-8601"),
        (FILES | {"format": "csv", "csv.field-delimiter": "::"}, "is not a single character"),
        ({"connector": "datagen", "fields.b.kind": "random"}, "names the unknown column 'b'"),
        ({"connector": "datagen", "fields.a.kind": "sequence"}, "needs 'start' and 'end'"),
        (FILES | {"path": "${ROOT}/in"}, "${ROOT}, not set"),
    ],
)
def test_what_flink_refuses_is_refused(options: Mapping[str, str], message: str) -> None:
    with pytest.raises(TableError) as caught:
        check_tables(passthrough(options), {})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "type_", ["MAP<STRING, INT>", "ARRAY<ARRAY<INT>>", "ARRAY<ROW<`a` INT>>", "ROW<`a` ROW<`b` INT>>", "MULTISET<INT>"]
)
def test_csv_takes_no_deep_columns(type_: str) -> None:
    options = FILES | {"format": "csv"}
    check_tables(passthrough(options, fields=(("a", "ARRAY<INT>"), ("b", "ROW<`c` STRING, `d` INT>"))), {})
    with pytest.raises(TableError, match="the csv format has no columns of the type"):
        check_tables(passthrough(options, fields=(("a", type_),)), {})


def test_variables_are_filled_in() -> None:
    check_tables(passthrough(FILES | {"path": "${ROOT}/${DAY}"}), {"ROOT": "/data", "DAY": "today"})


def test_a_stream_overwrites_nothing() -> None:
    """Flink compiles INSERT OVERWRITE into files, and fails as the job starts."""
    plan = compile_script(
        "CREATE TABLE t (a INT) WITH ('connector' = 'datagen');"
        "CREATE TABLE o (a INT) WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'json');"
        "INSERT OVERWRITE o SELECT a FROM t;"
    )
    with pytest.raises(TableError, match="a streaming job cannot overwrite a table") as caught:
        check_tables(plan, {})
    assert caught.value.where == "table `default_catalog`.`default_database`.`o`"


@pytest.mark.parametrize(
    ("identifier", "name"),
    [("`c`.`d`.`t`", "t"), ("`c`.`d`.`.`", "."), ("`c`.`d`.`a``.``b`", "a`.`b"), ("`c`.`d`.`a.b`", "a.b")],
)
def test_the_name_of_a_table(identifier: str, name: str) -> None:
    assert table_name(ContextResolvedTable(identifier)) == name
