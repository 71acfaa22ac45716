"""Which of the files that are not read yet belong to a source."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.executor.checkpoints.job_state import is_wanted
from flinkplan.plan import document
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
