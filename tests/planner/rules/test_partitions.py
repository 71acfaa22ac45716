"""Predicates on partition columns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script

SCRIPT = """
CREATE TABLE t (id INT, region STRING) PARTITIONED BY (region)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json');
CREATE TABLE o (id INT) WITH ('connector' = 'print');
INSERT INTO o SELECT id FROM t WHERE region = 'eu';
"""


@pytest.mark.parametrize(
    ("path", "operators"),
    [
        ("{folder}", ["partitions=[{region=eu}]", "Sink"]),
        ("file://{folder}", ["partitions=[{region=eu}]", "Sink"]),
        ("file:{folder}", ["partitions=[{region=eu}]", "Sink"]),
        ("${{DATA}}", ["fields=[id, region]", "where=[(region = 'eu'", "Sink"]),
        ("s3a://bucket/t", ["fields=[id, region]", "where=[(region = 'eu'", "Sink"]),
    ],
)
def test_partitions_are_chosen_where_they_can_be_seen(path: str, operators: list[str], tmp_path: Path) -> None:
    for region in ("eu", "us"):
        (tmp_path / f"region={region}").mkdir()
    plan = compile_script(SCRIPT.format(path=path.format(folder=tmp_path)))
    assert len(plan.nodes) == len(operators)
    for node, words in zip(plan.nodes, operators, strict=True):
        assert words in str(node.description)


def test_nothing_is_read_where_no_partition_is_chosen(tmp_path: Path) -> None:
    (tmp_path / "region=us").mkdir()
    plan = compile_script(SCRIPT.format(path=tmp_path))
    assert [n.description.partition("(")[0] for n in plan.nodes] == ["Values", "Sink"]


def chosen(folder: Path, type_: str, texts: list[str], condition: str, hint: str = "") -> str:
    """The partitions that a plan reads, and the filter that it keeps."""
    for text in texts:
        (folder / f"p={text}").mkdir(exist_ok=True)
    plan = compile_script(f"""
        CREATE TABLE t (id INT, p {type_}) PARTITIONED BY (p)
        WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json');
        CREATE TABLE o (id INT, p STRING) WITH ('connector' = 'print');
        INSERT INTO o SELECT id, CAST(p AS STRING) FROM t {hint} WHERE {condition};
    """)
    text = " ".join(str(node.description) for node in plan.nodes)
    partitions = re.search(r"partitions=\[(.*?)\]", text)
    where = re.search(r"where=\[(.*?)\]", text)
    return (partitions[1] if partitions else "") + (f" where {where[1]}" if where else "")


DEFAULT = "__DEFAULT_PARTITION__"
KINDS = {
    "STRING": ["x", "y", DEFAULT],
    "INT": ["1", "2", DEFAULT],
    "DATE": ["2024-01-01", "2024-01-02", "20240103", DEFAULT],
    "BOOLEAN": ["true", "FALSE", DEFAULT],
    "DECIMAL(5, 2)": ["1.50", "2", "12345.6", DEFAULT],
    "TIMESTAMP(3)": ["2024-01-01 00%3A00%3A00", "2024-01-02T12%3A30%3A00.5", DEFAULT],
    "DOUBLE": ["1.5", " 2e0f", "NaN", DEFAULT],
    "FLOAT": ["1.1", DEFAULT],
    "TIME": ["10%3A00%3A00", "11%3A00", DEFAULT],
}
"""Folders by the type of their column.  What Flink 2.3 chooses of them is below, if Flink can tell the type at all."""


@pytest.mark.parametrize(
    ("type_", "condition", "partitions"),
    [
        ("STRING", "p <> 'x'", "{p=y}"),
        ("STRING", "p IS NULL", "{p=null}"),
        ("STRING", "p IS NOT NULL", "{p=x}, {p=y}"),
        ("STRING", "p NOT IN ('x')", "{p=y}"),
        ("STRING", "p NOT IN ('x', NULL)", ""),
        ("STRING", "p IS DISTINCT FROM 'x'", "{p=null}, {p=y}"),
        ("STRING", "COALESCE(p, 'q') = 'q'", "{p=null}"),
        ("STRING", "(p = 'x') IS NOT TRUE", "{p=null}, {p=y}"),
        ("STRING", f"p = '{DEFAULT}'", ""),
        ("STRING", "UPPER(p) = 'X'", "{p=x}"),
        ("STRING", "CASE WHEN p = 'x' THEN FALSE ELSE TRUE END", "{p=null}, {p=y}"),
        ("STRING", "NULLIF(p, 'x') IS NULL", "{p=null}, {p=x}"),
        ("STRING", "p <> 'x' AND MOD(id, 2) = 0", "{p=y} where (MOD(id, 2) = 0)"),
        ("STRING", "(p = 'x' AND id = 1) OR p = 'y'", "{p=x}, {p=y} where ((id = 1) OR (p = 'y'))"),
        ("INT", "p > 1", "{p=2}"),
        ("INT", "p + 1 = 3", "{p=2}"),
        ("INT", "COALESCE(p, 7) > 5", "{p=null}"),
        ("INT", "p = 1 OR p IS NULL", "{p=1}, {p=null}"),
        ("DATE", "p >= DATE '2024-01-02'", "{p=2024-01-02}"),
        ("DATE", "p IS NULL", "{p=20240103}, {p=null}"),
        ("DATE", "p < '2024-01-02'", "{p=2024-01-01}"),
        ("BOOLEAN", "NOT p", "{p=FALSE}"),
        ("BOOLEAN", "p IS NOT TRUE", "{p=FALSE}, {p=null}"),
        ("DECIMAL(5, 2)", "p >= 1.5", "{p=1.50}, {p=2}"),
        ("DECIMAL(5, 2)", "p IS NULL", "{p=12345.6}, {p=null}"),
        ("TIMESTAMP(3)", "p > TIMESTAMP '2024-01-01 00:00:00'", "{p=2024-01-02T12:30:00.5}"),
        ("DOUBLE", "p > 1.5", "{p= 2e0f}, {p=NaN} where (p > 1.5)"),
        ("FLOAT", "p > 1.1E0", "{p=1.1}"),
        ("FLOAT", "p = 1.1", ""),
        ("TIME", "p > TIME '10:00:00'", "{p=11:00}"),
    ],
)
def test_the_default_partition_is_null(type_: str, condition: str, partitions: str, tmp_path: Path) -> None:
    assert chosen(tmp_path, type_, KINDS[type_], condition) == partitions


def test_the_default_partition_has_the_name_that_the_table_gives_it(tmp_path: Path) -> None:
    hint = "/*+ OPTIONS('partition.default-name' = 'y') */"
    assert chosen(tmp_path, "STRING", KINDS["STRING"], "p <> 'x'", hint) == f"{{p={DEFAULT}}}"


def test_names_of_folders_are_unescaped(tmp_path: Path) -> None:
    texts = ["a%2Fb", "a b", "%C3%A4", "100%"]
    assert chosen(tmp_path, "STRING", texts, "p <> 'a b'") == "{p=ä}, {p=100%}, {p=a/b}"


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("INT", "abc"),
        ("INT", " 1"),
        ("TINYINT", "300"),
        ("BIGINT", "1_000"),
        ("DECIMAL(5, 2)", "abc"),
        ("DOUBLE", "1x"),
        ("TIMESTAMP(3)", "today"),
    ],
)
def test_a_folder_that_names_no_value_is_told(type_: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(FlinkplanError) as caught:
        chosen(tmp_path, type_, ["1", text] if type_ != "TIMESTAMP(3)" else [text], "p IS NOT NULL")
    assert f"the folder 'p={text}' of the table 't' is no partition of it: '{text}' is no {type_}" in str(caught.value)
    assert caught.value.exit_code == 2


def test_several_partition_columns(tmp_path: Path) -> None:
    for name in ("a=x/b=1", f"a=x/b={DEFAULT}", f"a={DEFAULT}/b=1", "a=y/b=2", "c=z/b=2", "a=x/c=1"):
        (tmp_path / name).mkdir(parents=True)
    plan = compile_script(f"""
        CREATE TABLE t (id INT, a STRING, b INT) PARTITIONED BY (a, b)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json');
        CREATE TABLE o (id INT) WITH ('connector' = 'print');
        INSERT INTO o SELECT id FROM t WHERE a IS NULL OR b IS NULL;
    """)
    assert "partitions=[{a=null, b=1}, {a=x, b=null}]" in str(plan.nodes[0].description)
