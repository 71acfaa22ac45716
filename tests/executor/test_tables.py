"""Tables' options are checked before Spark starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from flinkplan.executor.errors import TableError
from flinkplan.executor.prepare.checks import check_executable
from flinkplan.plan.errors import UnsupportedError
from flinkplan.plan.specs import ContextResolvedTable

from .plans import BLACKHOLE, passthrough, pipeline, row_type, scan, sink_node

HERE = Path(__file__).parent
FILES = {"connector": "filesystem", "path": str(HERE), "format": "json"}


@pytest.mark.parametrize(
    "options",
    [
        FILES,
        FILES | {"path": str(HERE / "nowhere"), "source.monitor-interval": "1 s"},
        FILES | {"json.ignore-parse-errors": "TRUE", "source.monitor-interval": "10 s"},
        FILES | {"scan.watermark.idle-timeout": "1 s", "scan.watermark.emit.strategy": "on-event"},
        FILES | {"format": "csv", "csv.field-delimiter": "\\t", "csv.null-literal": ""},
        FILES | {"format": "debezium-json", "debezium-json.schema-include": "true"},
        {"connector": "datagen", "number-of-rows": "5", "fields.a.kind": "sequence", "fields.a.start": "1"}
        | {"fields.a.end": "9"},
    ],
)
def test_what_flink_takes_is_taken(options: Mapping[str, str]) -> None:
    check_executable(passthrough(options), {}, {})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "has no option 'connector'"),
        ({"connector": "pulsar"}, "the connector 'pulsar' is not executed here"),
        ({"connector": "filesystem", "format": "json"}, "has no option 'path'"),
        ({"connector": "filesystem", "path": "/data"}, "has no option 'format'"),
        (FILES | {"format": "avro"}, "the format 'avro' is not executed here in files"),
        (FILES | {"json.ignore-parse-error": "true"}, "did you mean 'json.ignore-parse-errors'?"),
        (FILES | {"json.ignore-parse-errors": "yes"}, "it is true or false"),
        (FILES | {"json.timestamp-format.standard": "RFC"}, "it is SQL or ISO-8601"),
        (FILES | {"format": "csv", "csv.field-delimiter": "::"}, "it is a single character"),
        ({"connector": "datagen", "fields.b.kind": "random"}, "has no option 'fields.b.kind'"),
        ({"connector": "datagen", "fields.a.kind": "sequence"}, "needs 'start' and 'end'"),
        (FILES | {"path": "${ROOT}/in"}, "${ROOT}, not set"),
        (FILES | {"path": str(HERE / "nowhere")}, "there is nothing to read at"),
        (FILES | {"path": f"file://{HERE}/no%20where"}, "no where"),
    ],
)
def test_what_flink_refuses_is_refused(options: Mapping[str, str], message: str) -> None:
    with pytest.raises(TableError) as caught:
        check_executable(passthrough(options), {}, {})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "type_", ["MAP<STRING, INT>", "ARRAY<ARRAY<INT>>", "ARRAY<ROW<`a` INT>>", "ROW<`a` ROW<`b` INT>>", "MULTISET<INT>"]
)
def test_csv_takes_no_deep_columns(type_: str) -> None:
    options = FILES | {"format": "csv"}
    check_executable(passthrough(options, fields=(("a", "ARRAY<INT>"), ("b", "ROW<`c` STRING, `d` INT>"))), {}, {})
    with pytest.raises(TableError, match="the csv format has no columns of the type"):
        check_executable(passthrough(options, fields=(("a", type_),)), {}, {})


def test_variables_are_filled_in() -> None:
    check_executable(passthrough(FILES | {"path": "${ROOT}/${DAY}"}), {"ROOT": str(HERE), "DAY": "operators"}, {})


def test_a_source_that_tells_no_watermarks_is_not_asked_for_them() -> None:
    fields = (("a", "INT"),)
    source = scan(FILES, fields)
    told = {"type": "SourceWatermark", "sourceWatermarkEnabled": True, "producedType": f"{row_type(fields)} NOT NULL"}
    source["scanTableSource"]["abilities"] = [told]
    with pytest.raises(UnsupportedError, match=r"SOURCE_WATERMARK\(\)"):
        check_executable(pipeline([source, sink_node(BLACKHOLE, fields)]), {}, {})


@pytest.mark.parametrize(
    ("identifier", "name"),
    [("`c`.`d`.`t`", "t"), ("`c`.`d`.`.`", "."), ("`c`.`d`.`a``.``b`", "a`.`b"), ("`c`.`d`.`a.b`", "a.b")],
)
def test_the_name_of_a_table(identifier: str, name: str) -> None:
    assert ContextResolvedTable(identifier).name == name
