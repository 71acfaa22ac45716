"""What follows from how large the input of a job is."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.executor.prepare.known.input_size import is_small, partitions_for
from flinkplan.planner import compile_script

MB = 1 << 20
COPY = """\
CREATE TABLE t (a INT) WITH ('connector' = '{connector}'{options});
CREATE TABLE o (a INT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT a FROM t;
"""


@pytest.mark.parametrize(
    ("size", "small", "partitions"), [(0, True, 1), (16 * MB, True, 1), (17 * MB, False, 2), (1000 * MB, False, 15)]
)
def test_more_input_is_brought_together_in_more_partitions(
    size: int, small: bool, partitions: int, tmp_path: Path
) -> None:
    with (tmp_path / "rows").open("wb") as file:
        file.truncate(size)
    options = f", 'path' = '{tmp_path}', 'format' = 'csv'"
    nodes = compile_script(COPY.format(connector="filesystem", options=options)).nodes
    assert (is_small(nodes, {}), partitions_for(nodes, {}, 2)) == (small, partitions)


def test_input_of_unknown_size_is_not_small() -> None:
    nodes = compile_script(COPY.format(connector="datagen", options=", 'number-of-rows' = '1'")).nodes
    assert (is_small(nodes, {}), partitions_for(nodes, {}, 8)) == (False, 8)
