"""What docs/windows.md shows runs, all in one job: each example over the same few clicks."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.python_classes import PythonCode
from flinkplan.planner import compile_script
from flinkplan.planner.spec.reader import read
from flinkplan.planner.sql.source import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PAGE = (Path(__file__).parents[2] / "docs" / "windows.md").read_text("utf-8")
(CLASSES,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
BLOCKS: list[Any] = [read(Source(block)).data for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
TABLES, *EXAMPLES = BLOCKS

CLICKS = (
    ("ann", "home", 5, "10:00:01"),
    ("ann", "cart", 60, "10:00:02"),
    ("bob", "home", 1, "10:00:03"),
    ("ann", "checkout", 120, "10:00:14"),
    ("ann", "home", 2, "10:01:10"),
    ("bob", "cart", 70, "10:00:30"),
    ("ann", "home", 3, "11:30:00"),
    ("bob", "home", 4, "10:00:40"),
)
"""Each is on the first of May; the watermark is five seconds behind the latest, so that bob's last two are late."""

SHOWN: dict[str, tuple[str, list[str]]] = {
    "per_person": ("person, clicks, total", ["ann 3 185.0", "bob 1 1.0", "ann 1 2.0", "ann 1 3.0"]),
    "days_in_china": (
        "person, total, window_start",
        ["ann 190.0 2024-04-30 16:00:00.000", "bob 75.0 2024-04-30 16:00:00.000"],
    ),
    "last_ten_minutes": (
        "person, total",
        ["ann 185.0", *["ann 187.0"] * 9, "ann 2.0", *["ann 3.0"] * 10, "bob 1.0", *["bob 71.0"] * 9],
    ),
    "visits": ("person, clicks", ["ann 4", "ann 1", "bob 2"]),
    "patient_visits": ("person, clicks", ["ann 4", "ann 1", "bob 2"]),
    "hundreds": ("person, total", []),
    "best": (
        "person, page, amount",
        ["ann checkout 120.0", "bob home 1.0", "ann home 2.0", "ann home 3.0"],
    ),
    "averages": (
        "person, average, seconds, firing",
        [
            *(f"ann 61.666666666666664 60 {n}" for n in range(1, 7)),
            *(f"bob 1.0 60 {n}" for n in range(1, 7)),
            *(f"ann 2.0 60 {n}" for n in range(1, 6)),
            *(f"ann 3.0 60 {n}" for n in range(1, 7)),
        ],
    ),
    "top_three": (
        "person, page, amount",
        ["ann checkout 120.0", "ann cart 60.0", "ann home 5.0", "bob home 1.0", "ann home 2.0", "ann home 3.0"],
    ),
    "early": ("person, total", [*["ann 187.0"] * 60, "bob 1.0", *["bob 71.0"] * 59, *["ann 3.0"] * 30]),
    "top_amount_lately": ("person, best", ["ann 60.0", "ann 120.0", "ann 2.0", "bob 70.0", "bob 4.0"]),
    "per_minute": ("person, total", ["ann 185.0", "bob 1.0", "bob 71.0", "ann 2.0", "ann 3.0"]),
    "late_pages": ("page, late", ["home 1"]),
    "counted": ("person, clicks, firing", ["ann 3 1", "ann 3 2"]),
    "sums": ("person, total", ["ann 65.0", "bob 1.0", "ann 120.0", "ann 2.0", "ann 3.0"]),
    "winners": ("person, total", ["ann 65.0", "bob 1.0", "ann 120.0", "ann 2.0", "ann 3.0"]),
}
"""Of each window what is selected, and what that comes to."""


@pytest.fixture(scope="module")
def found(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The rows of each window, written out."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "in").mkdir()
    names = ("person", "page", "amount")
    lines = [json.dumps(dict(zip(names, values, strict=True)) | {"ts": f"2024-05-01T{at}Z"}) for *values, at in CLICKS]
    (folder / "in" / "clicks.json").write_text("\n".join(lines), "utf-8")
    (folder / "my_windows.py").write_text(CLASSES, "utf-8")
    windows = {name: window for example in EXAMPLES for name, window in example["windows"].items()}
    assert windows.keys() == SHOWN.keys()
    results: dict[str, Any] = {"columns": {"of": "STRING", "shown": "STRING"}}
    results["with"] = {"connector": "filesystem", "path": str(folder / "out"), "format": "json"}
    queries = [f"SELECT '{name}', {_text(columns)} FROM {name}" for name, (columns, _) in SHOWN.items()]
    spec = {
        "version": 1,
        "tables": {**TABLES["tables"], "results": results},
        "windows": windows,
        "inserts": [{"into": "results", "query": " UNION ALL ".join(queries)}],
    }
    plan = compile_script(json.dumps(spec), file=str(folder / "page.yaml"))
    code = PythonCode(files=(str(folder / "my_windows.py"),))
    options = JobOptions(variables={"IN": str(folder / "in")}, spark=spark, python=code)
    execute(plan, options).wait()
    rows: dict[str, list[str]] = defaultdict(list)
    for file in (folder / "out").glob("part-*"):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            rows[row["of"]].append(row["shown"])
    return rows


def _text(columns: str) -> str:
    """The columns as one text."""
    texts = [f"CAST({column} AS STRING)" for column in columns.split(", ")]
    return f"CONCAT_WS(' ', {', '.join(texts)})"


@pytest.mark.parametrize("name", SHOWN)
def test_what_the_page_shows_is_emitted(name: str, found: dict[str, list[str]]) -> None:
    assert sorted(found[name]) == sorted(SHOWN[name][1])
