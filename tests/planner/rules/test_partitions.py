"""Predicates on partition columns."""

from __future__ import annotations

from pathlib import Path

import pytest

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
        ("${{DATA}}", ["fields=[id, region]", "where=[(region = 'eu'", "Sink"]),
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
