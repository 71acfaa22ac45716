"""Which files a source has read, and which others belong to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.executor.checkpoints.job_state import files_read, is_wanted
from flinkplan.executor.checkpoints.query_log import QueryProgress
from flinkplan.plan import document
from flinkplan.plan.files import Place
from flinkplan.plan.nodes import TableSourceScan
from flinkplan.plan.record import replace
from flinkplan.plan.specs import PartitionPushDown
from flinkplan.state.moving import NotMovedError

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
    log = tmp_path / "sources" / "0" / "files" / "000000000000"
    log.parent.mkdir(parents=True)
    log.write_text('{"path": "file:/data/a"}\n{"path": "file:///data/b"}\n{"path": "file:/data/c"}\n', "utf-8")
    progress = QueryProgress(0, ('{"files": 2, "settled": true}', "0", None), 0, {})
    assert files_read(Place.of(tmp_path), progress) == [["/data/a", "/data/b"]]


@pytest.mark.parametrize("offset", ['{"logOffset": 0}', '{"positions": [3], "current": 0, "rows": 0}'])
def test_positions_that_are_not_known_are_refused(tmp_path: Path, offset: str) -> None:
    with pytest.raises(NotMovedError, match="cannot be moved yet"):
        files_read(Place.of(tmp_path), QueryProgress(0, (offset,), 0, {}))
