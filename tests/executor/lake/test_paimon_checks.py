"""What is refused of Paimon tables before a job starts, where pypaimon is not installed either."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from flinkplan.executor.connectors.tables import Table
from flinkplan.executor.errors import TableError
from flinkplan.executor.lake.paimon import PaimonLog
from flinkplan.executor.prepare.checks import refusals
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.tables import plan_tables
from flinkplan.planner import compile_script

LAKE = "'connector' = 'paimon', 'path' = '/lake'"


def refused(lake: str, query: str, columns: str = "id BIGINT") -> str:
    script = (
        f"CREATE TABLE lake ({columns}) WITH ({lake}); CREATE TABLE made (id BIGINT) WITH ('connector' = 'datagen');"
        f"CREATE TABLE seen (id BIGINT) WITH ('connector' = 'print'); {query};"
    )
    try:
        (refusal,) = refusals(compile_script(script))
    except FlinkplanError as e:
        return f"{e} {e.hint}"
    return f"{refusal.error} {refusal.error.hint}"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("'connector' = 'paimon', 'bucket' = '1'", "the option 'path' of the Paimon table is missing"),
        ("'connector' = 'paimon', 'path' = 's3://lake/t'", "in local directories here"),
        (f"{LAKE}, 'streaming-read-overwrite' = 'true'", "a stream passes over snapshots that overwrite others"),
        (f"{LAKE}, 'scan.bounded.watermark' = '1'", "use --mode bounded"),
        (f"{LAKE}, 'incremental-between-timestamp' = '1,2'", "name 'incremental-between'"),
        (f"{LAKE}, 'fields.v.ignore-retract' = 'true'", "pypaimon does not know it"),
        (f"{LAKE}, 'branch' = 'b'", "branches are not read here"),
        (f"{LAKE}, 'fs.oss.endpoint' = 'x'", "only options on a list are handed to Paimon"),
        (f"{LAKE}, 'scan.snapshot-id' = '1', 'scan.tag-name' = 't'", "'scan.snapshot-id' names the snapshot already"),
        (f"{LAKE}, 'scan.mode' = 'from-timestamp'", "'from-timestamp' needs 'scan.timestamp-millis'"),
        (f"{LAKE}, 'scan.mode' = 'incremental'", "'incremental' needs 'incremental-between'"),
        (f"{LAKE}, 'scan.mode' = 'compacted-full'", "'compacted-full' is no value of scan.mode"),
        (f"{LAKE}, 'bucket' = '0'", "it must be a number of buckets from 1 on, or -1"),
        (f"{LAKE}, 'changelog-producer' = 'input'", "only a table with a primary key produces a changelog"),
    ],
)
def test_what_is_refused_of_a_source(options: str, words: str) -> None:
    assert words in refused(options, "INSERT INTO seen SELECT id FROM lake")


def test_tables_are_not_looked_up() -> None:
    plan = compile_script(
        f"CREATE TABLE lake (id BIGINT PRIMARY KEY NOT ENFORCED, v STRING) WITH ({LAKE});"
        "CREATE TABLE made (id BIGINT, pt AS PROCTIME()) WITH ('connector' = 'datagen');"
        "CREATE TABLE seen (v STRING) WITH ('connector' = 'print');"
        "INSERT INTO seen SELECT v FROM made m JOIN lake FOR SYSTEM_TIME AS OF m.pt ON m.id = lake.id;"
    )
    (refusal,) = refusals(plan)
    assert "tables of 'paimon' are not asked for the rows of keys here" in str(refusal.error)


@pytest.mark.parametrize(
    ("columns", "options", "query", "words"),
    [
        ("n BIGINT", "'bucket' = '-1'", "SELECT COUNT(*) FROM made", "by its primary key, and it has none"),
        ("r ROW<a BIGINT>", "'bucket' = '-1'", "SELECT ROW(id) FROM made", "is of the type ROW"),
        *(
            ("id BIGINT PRIMARY KEY NOT ENFORCED", option, "SELECT id FROM made", "once Paimon's compaction has run")
            for option in (
                "'merge-engine' = 'first-row'",
                "'changelog-producer' = 'lookup'",
                "'changelog-producer' = 'full-compaction'",
                "'deletion-vectors.enabled' = 'true'",
                "'bucket' = '-2'",
            )
        ),
        ("id BIGINT", "'rowkind.field' = 'k'", "SELECT id FROM made", "rows have a kind already"),
    ],
)
def test_what_is_refused_of_a_sink(columns: str, options: str, query: str, words: str) -> None:
    assert words in refused(f"{LAKE}, {options}", f"INSERT INTO lake {query}", columns)


def test_tables_of_a_warehouse_are_known(tmp_path: Path) -> None:
    folder = tmp_path / "shop.db" / "it's `so`" / "schema"
    folder.mkdir(parents=True)
    fields = [
        ("id", "INT NOT NULL", None),
        ("p q", "VARCHAR(10)", "where it's from"),
        ("d", "DECIMAL(10, 2)", None),
        ("t", "TIMESTAMP(3) WITH LOCAL TIME ZONE", None),
        ("a", {"type": "ARRAY NOT NULL", "element": {"type": "MAP", "key": "STRING", "value": "BYTES"}}, None),
        ("r", {"type": "ROW", "fields": [{"id": 9, "name": "x", "type": "TINYINT"}]}, None),
    ]
    schema = {
        "fields": [{"id": i, "name": n, "type": t, "description": d} for i, (n, t, d) in enumerate(fields)],
        "partitionKeys": ["p q"],
        "primaryKeys": ["p q", "id"],
        "options": {"bucket": "2", "owner": "me", "snapshot.time-retained": "1 h"},
        "comment": "the shop's",
    }
    (folder / "schema-9").write_text(json.dumps({**schema, "fields": []}))
    (folder / "schema-10").write_text(json.dumps(schema))
    for name, content in (
        ("blobs", {**schema, "fields": [{"id": 0, "name": "b", "type": "BLOB"}], "primaryKeys": []}),
        ("odd", {**schema, "fields": [{"id": 0, "name": "b", "type": "INT) WITH ('connector' = 'print'"}]}),
    ):
        (tmp_path / "shop.db" / name / "schema").mkdir(parents=True)
        (tmp_path / "shop.db" / name / "schema" / "schema-0").write_text(json.dumps(content))
    catalog = f"CREATE CATALOG lakes WITH ('type' = 'paimon', 'warehouse' = '{tmp_path}');"
    seen = "CREATE TABLE seen (id INT) WITH ('connector' = 'print');"
    plan = compile_script(f"{catalog}{seen} INSERT INTO seen SELECT id FROM lakes.shop.`it's ``so```;")
    (table,) = (r.resolved_table for _, r in plan_tables(plan) if r.name != "seen")
    assert table is not None
    assert [(c.name, str(c.data_type), c.comment) for c in table.schema.columns] == [
        ("id", "INT NOT NULL", None),
        ("p q", "VARCHAR(10) NOT NULL", "where it's from"),
        ("d", "DECIMAL(10, 2)", None),
        ("t", "TIMESTAMP(3) WITH LOCAL TIME ZONE", None),
        ("a", "ARRAY<MAP<VARCHAR(2147483647), VARBINARY(2147483647)>> NOT NULL", None),
        ("r", "ROW<`x` TINYINT>", None),
    ]
    assert (table.partition_keys, table.comment) == (("p q",), "the shop's")
    path = f"{tmp_path}/shop.db/it's `so`"
    assert table.options == {"connector": "paimon", "path": path, "bucket": "2"}
    for name in ("blobs", "odd"):
        with pytest.raises(FlinkplanError, match="flinkplan does not ask the catalog 'lakes'"):
            compile_script(f"{catalog}{seen} INSERT INTO seen SELECT 1 FROM lakes.shop.{name};")
    # a script may say itself what a table is
    own = f"{catalog}{seen} CREATE TABLE lakes.shop.`it's ``so``` (id INT); INSERT INTO seen SELECT id FROM lakes.shop."
    (again,) = (r.resolved_table for _, r in plan_tables(compile_script(own + "`it's ``so```;")) if r.name != "seen")
    assert again is not None and len(again.schema.columns) == 1


def test_what_streams_of_keyed_tables_have() -> None:
    """Without a changelog of its own a table's stream is normalized, unless the table says that it need not be."""
    for options, normalizes in (
        ("'bucket' = '1'", True),
        ("'scan.remove-normalize' = 'true'", False),
        ("'changelog-producer' = 'input'", False),
    ):
        plan = compile_script(
            f"CREATE TABLE lake (id BIGINT PRIMARY KEY NOT ENFORCED) WITH ({LAKE}, {options});"
            "CREATE TABLE seen (id BIGINT) WITH ('connector' = 'print'); INSERT INTO seen SELECT id FROM lake;"
        )
        assert any("ChangelogNormalize" in type(node).__name__ for node in plan.nodes) == normalizes


@pytest.mark.skipif(find_spec("pypaimon") is not None, reason="pypaimon is installed")
def test_what_is_missing_is_named(tmp_path: Path) -> None:
    plan = compile_script(
        f"CREATE TABLE lake (id INT) WITH ('connector' = 'paimon', 'path' = '{tmp_path}/t');"
        "INSERT INTO lake VALUES (1);"
    )
    ((_, reference),) = plan_tables(plan)
    assert reference.resolved_table is not None
    with pytest.raises(TableError, match="Paimon tables need pypaimon") as caught:
        PaimonLog(Table("lake", "lake", reference.resolved_table, reference.options or {}))
    assert "pip install 'flinkplan[paimon]'" in str(caught.value.hint)
