"""Options of tables and settings: what Flink refuses is refused at its place, with the nearest name."""

from __future__ import annotations

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script

SOURCE = "CREATE TABLE s (id INT, name STRING) WITH ('connector' = 'datagen');\n"
PRINT = "'connector' = 'print'"
FILES = "'connector' = 'filesystem', 'path' = 'x', 'format' = 'json'"


def refused(script: str) -> FlinkplanError:
    with pytest.raises(FlinkplanError) as caught:
        compile_script(script, file="p.sql")
    return caught.value


def sink(options: str) -> str:
    return f"{SOURCE}CREATE TABLE x (id INT) WITH ({options});\nINSERT INTO x SELECT id FROM s;"


def source(options: str) -> str:
    read = f"CREATE TABLE x (id INT, name STRING) WITH ({options});\n"
    return f"{read}CREATE TABLE o (id INT) WITH ('connector' = 'print');\nINSERT INTO o SELECT id FROM x;"


@pytest.mark.parametrize(
    ("options", "message", "hint", "where"),
    [
        ("'path' = 'x'", "the table 'x' has no option 'connector'", "'connector' = ", "p.sql:3:13"),
        ("'connector' = 'filesytem'", "there is no connector 'filesytem'", "did you mean 'filesystem'?", "p.sql:2:31"),
        ("'connector' = 'datagen'", "'x' cannot be written to: a table of 'datagen' is only read", None, "p.sql:3:13"),
        (
            "'connector' = 'filesystem', 'path' = 'x'",
            "the table 'x' has no option 'format'",
            "'format' = ",
            "p.sql:3:13",
        ),
        (
            "'connector' = 'filesystem', 'pth' = 'x', 'format' = 'json'",
            "the connector 'filesystem' has no option 'pth'",
            "did you mean 'path'?",
            "p.sql:2:59",
        ),
        (FILES.replace("json", "jsno"), "there is no format 'jsno'", "did you mean 'json'?", "p.sql:2:73"),
        (
            f"{FILES}, 'json.ignore-parse-error' = 'true'",
            "the format 'json' has no option 'json.ignore-parse-error'",
            "did you mean 'json.ignore-parse-errors'?",
            "p.sql:2:92",
        ),
        ("'connector' = 'print', 'print-id' = 'a'", "has no option 'print-id'", "'print-identifier'", "p.sql:2:54"),
        ("'connector' = 'blackhole', 'format' = 'json'", "'blackhole' has no option 'format'", None, "p.sql:2:58"),
    ],
)
def test_options_of_a_sink(options: str, message: str, hint: str | None, where: str) -> None:
    error = refused(sink(options))
    assert message in error.message
    assert (hint or "") in (error.hint or "")
    assert str(error.where) == where


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'connector' = 'print'", "'x' cannot be read: a table of 'print' is only written to"),
        ("'connector' = 'datagen', 'fields.idd.min' = '1'", "no option 'fields.idd.min'"),
        ("'connector' = 'datagen', 'rows-per-secnd' = '1'", "no option 'rows-per-secnd'"),
    ],
)
def test_options_of_a_source(options: str, message: str) -> None:
    assert message in refused(source(options)).message


CSV = FILES.replace("json", "csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (f"{FILES}, 'json.ignore-parse-errors' = 'yes'", "it is true or false"),
        (f"{FILES}, 'json.timestamp-format.standard' = 'iso-8601'", "it is SQL or ISO-8601"),
        (
            f"{FILES}, 'json.ignore-parse-errors' = 'true', 'json.fail-on-missing-field' = 'true'",
            "'json.fail-on-missing-field' and 'json.ignore-parse-errors' do not go together",
        ),
        (f"{CSV}, 'csv.field-delimiter' = '||'", "it is a single character"),
        (f"{CSV}, 'csv.array-element-delimiter' = ''", "it is a single character"),
        (
            f"{CSV}, 'csv.quote-character' = '|', 'csv.disable-quote-character' = 'true'",
            "'csv.quote-character' and 'csv.disable-quote-character' do not go together",
        ),
        (f"{FILES.replace('json', 'raw')}, 'raw.endianness' = 'big'", "it is big-endian or little-endian"),
    ],
)
def test_values_of_format_options(options: str, message: str) -> None:
    error = refused(source(options))
    assert message in error.message
    assert str(error.where).startswith("p.sql:1:")


@pytest.mark.parametrize(
    "options",
    [
        rf"{CSV}, 'csv.field-delimiter' = '\t', 'csv.quote-character' = '|', 'csv.disable-quote-character' = 'false'",
        rf"{CSV}, 'csv.field-delimiter' = '\u0001', 'csv.ignore-parse-errors' = 'TRUE'",
        f"{FILES}, 'json.map-null-key.mode' = 'drop', 'json.fail-on-missing-field' = 'true'",
    ],
)
def test_values_of_format_options_that_flink_takes(options: str) -> None:
    compile_script(source(options))


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("'json.map-null-key.mode' = 'SKIP'", "it is FAIL, DROP or LITERAL"),
        ("'format' = 'debezium-json', 'debezium-json.schema-include' = 'true'", "no schema can be written"),
    ],
)
def test_values_of_format_options_of_a_sink(mode: str, message: str) -> None:
    options = FILES if "format" not in mode else FILES.replace(", 'format' = 'json'", "")
    assert message in refused(sink(f"{options}, {mode}")).message


@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        (
            "db STRING METADATA FROM 'database' VIRTUAL",
            FILES.replace("json", "canal-json"),
            "has no metadata 'database'",
        ),
        ("`file.name` INT METADATA", "'connector' = 'datagen'", "has no metadata 'file.name'"),
    ],
)
def test_metadata_that_a_connector_does_not_offer(column: str, options: str, message: str) -> None:
    error = refused(source(options).replace("name STRING", column))
    assert message in error.message
    assert "for the column" in error.message


def test_metadata_is_not_written_to_files() -> None:
    written = sink(FILES).replace("(id INT) WITH", "(id INT, f STRING METADATA FROM 'file.path') WITH")
    error = refused(written.replace("SELECT id", "SELECT id, name"))
    assert "the metadata column 'f' cannot be written to a table of 'filesystem'" in error.message
    compile_script(written.replace("'file.path')", "'file.path' VIRTUAL)"))


@pytest.mark.parametrize(
    "options",
    [
        "'connector' = 'pulsar', 'topics' = 'a', 'anything' = 'x'",
        f"{FILES}, 'sink.rolling-policy.file-size' = '1MB', 'scan.watermark.idle-timeout' = '1 s'",
        FILES.replace("json", "parquet") + ", 'parquet.compression' = 'GZIP'",
    ],
)
def test_what_others_bring_along_is_left_to_them(options: str) -> None:
    compile_script(sink(options))


def test_a_table_that_nothing_uses_is_not_judged() -> None:
    compile_script(sink("'connector' = 'print'").replace("INSERT", "CREATE TABLE y (a INT) WITH ('b' = 'c');\nINSERT"))


def test_an_option_of_a_hint_is_told_at_the_table() -> None:
    script = source(FILES).replace("FROM x", "FROM x /*+ OPTIONS('pth' = 'y') */")
    error = refused(script)
    assert "no option 'pth'" in error.message
    assert str(error.where) == "p.sql:3:30"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("table.exec.state.ttl", "yes", "'yes' is not a duration"),
        ("table.exec.mini-batch.enabled", "maybe", "it is true or false"),
        ("table.exec.mini-batch.size", "many", "it is a whole number"),
        ("table.optimizer.agg-phase-strategy", "THREE", "it is AUTO, ONE_PHASE or TWO_PHASE"),
        ("table.local-time-zone", "Mars/City", "it is a time zone such as"),
    ],
)
def test_values_of_settings(key: str, value: str, message: str) -> None:
    error = refused(f"SET '{key}' = '{value}';\n{sink(PRINT)}")
    assert error.message.startswith(f"'{value}' is no value of {key}")
    assert message in error.message
    assert str(error.where) == "p.sql:1:1"


def test_mini_batches_need_a_latency() -> None:
    error = refused(f"SET 'table.exec.mini-batch.enabled' = 'true';\n{sink(PRINT)}")
    assert "needs a latency" in error.message
    assert str(error.where) == "p.sql:4:1"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("table.exec.state.ttl", "1 d"),
        ("table.exec.sink.not-null-enforcer", "drop"),
        ("table.local-time-zone", "GMT-03:00"),
        ("anything.else", "goes"),
    ],
)
def test_values_that_flink_takes(key: str, value: str) -> None:
    compile_script(f"SET '{key}' = '{value}';\n{sink(PRINT)}")


FILES_WITH_METADATA = (
    "CREATE TABLE f (id INT, `file.path` STRING NOT NULL METADATA VIRTUAL, "
    f"size BIGINT NOT NULL METADATA FROM 'file.size' VIRTUAL) WITH ({FILES});\n"
)
ALIASED, DEFAULT = "EXCLUDE_ALIASED_VIRTUAL_METADATA_COLUMNS", "EXCLUDE_DEFAULT_VIRTUAL_METADATA_COLUMNS"


@pytest.mark.parametrize(
    ("strategy", "names"),
    [
        ("", ("id", "file.path", "size")),
        (ALIASED, ("id", "file.path")),
        (DEFAULT, ("id", "size")),
        (f"{ALIASED};{DEFAULT}", ("id",)),
    ],
)
def test_stars_leave_out_virtual_metadata_columns(strategy: str, names: tuple[str, ...]) -> None:
    script = f"{FILES_WITH_METADATA}CREATE TABLE o WITH ({PRINT}) AS SELECT * FROM f;"
    plan = compile_script(script, options={"table.column-expansion-strategy": strategy})
    assert plan.nodes[-1].output_type.field_names == names


def test_hints_can_be_switched_off() -> None:
    hinted = f"{SOURCE}CREATE TABLE o WITH ({PRINT}) AS SELECT id FROM s /*+ OPTIONS('rows-per-second'='1') */;"
    assert compile_script(hinted).nodes
    with pytest.raises(FlinkplanError, match="there are no OPTIONS hints"):
        compile_script(hinted, options={"table.dynamic-table-options.enabled": "false"})
