"""Which files a source has read, and which others belong to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.executor.checkpoints.read_positions import files_read, is_wanted
from flinkplan.plan import document
from flinkplan.plan.files import Place
from flinkplan.plan.nodes import TableSourceScan
from flinkplan.plan.record import replace
from flinkplan.plan.specs import PartitionPushDown

PLAN = Path(__file__).parents[2] / "parity" / "cases" / "format-partitioned-source" / "plan.json"


@pytest.fixture(scope="module")
def scan() -> TableSourceScan:
    """A source that reads two partitions alone."""
    (node,) = (node for node in document.load(PLAN).nodes if isinstance(node, TableSourceScan))
    partitions = ({"yr": "2024", "region": "u s"}, {"yr": "2024", "region": None})
    source = replace(node.scan_table_source, abilities=(PartitionPushDown(partitions),))
    return replace(node, scan_table_source=source)


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("/data/yr=2024/region=u%20s/part-0", True),
        ("/data/yr=2024/region=none/part-0", True),
        ("/data/yr=2024/region=eu/part-0", False),
        ("/data/yr=2023/region=u%20s/part-0", False),
        ("/data/part-0", False),
    ],
)
def test_files_of_other_partitions_are_not_read(scan: TableSourceScan, file: str, wanted: bool) -> None:
    assert is_wanted(file, scan, "none") is wanted


def test_without_partitions_all_files_are_read(scan: TableSourceScan) -> None:
    source = replace(scan.scan_table_source, abilities=None)
    assert is_wanted("/data/part-0", replace(scan, scan_table_source=source), "none")


def test_files_are_read_up_to_the_offset(tmp_path: Path) -> None:
    log = tmp_path / "files" / "000000000000"
    log.parent.mkdir(parents=True)
    log.write_text('{"path": "file:/data/a"}\n{"path": "file:///data/b"}\n{"path": "file:/data/c"}\n', "utf-8")
    assert files_read(Place.of(tmp_path), {"files": 2, "settled": True}) == ["/data/a", "/data/b"]


def test_files_of_columnar_formats_are_those_of_the_log_of_spark(tmp_path: Path) -> None:
    for name, files in {"0": "a", "1.compact": "ab", "2": "c", "3": "d"}.items():
        lines = "".join(f'{{"path": "file:///data/{file}", "timestamp": 1, "batchId": 0}}\n' for file in files)
        (tmp_path / name).write_text(f"v1\n{lines}", "utf-8")
    assert files_read(Place.of(tmp_path), {"logOffset": 2}) == ["/data/a", "/data/b", "/data/c"]
    assert files_read(Place.of(tmp_path), {"logOffset": 0}) == ["/data/a"]


def test_positions_within_files_are_not_known(tmp_path: Path) -> None:
    assert files_read(Place.of(tmp_path), {"positions": [3], "current": 0, "rows": 0}) is None
