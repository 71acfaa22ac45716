"""A Paimon table as two readers see it: pypaimon, and PyArrow over the files of a snapshot.

Run as a program it prints the rows that pypaimon reads.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]


def paimon_rows(root: Path, *, apart: bool = False) -> Rows:
    """The rows of a table; both readers must see the same.  ``apart``: pypaimon reads in a process of its own."""
    rows = _in_a_process(root) if apart else _by_pypaimon(str(root))
    assert _sorted(rows) == _sorted(_by_pyarrow(root))
    return rows


def _in_a_process(root: Path) -> Rows:
    program = [sys.executable, str(Path(__file__)), str(root)]
    rows: Rows = json.loads(subprocess.run(program, capture_output=True, text=True, check=True).stdout)
    return rows


def _sorted(rows: Rows) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)


def _by_pyarrow(root: Path) -> Rows:
    import fastavro
    import pyarrow.parquet as pq

    def records(name: str) -> list[Any]:
        with (root / "manifest" / name).open("rb") as file:
            return list(fastavro.reader(file))

    numbers = [int(path.name.removeprefix("snapshot-")) for path in (root / "snapshot").glob("snapshot-*")]
    if not numbers:
        return []
    snapshot = json.loads((root / "snapshot" / f"snapshot-{max(numbers)}").read_text())
    schema = json.loads((root / "schema" / f"schema-{snapshot['schemaId']}").read_text())
    names = [field["name"] for field in schema["fields"]]
    live: dict[str, None] = {}
    for manifest_list in (snapshot["baseManifestList"], snapshot["deltaManifestList"]):
        for manifest in records(manifest_list):
            for entry in records(manifest["_FILE_NAME"]):
                name = entry["_FILE"]["_FILE_NAME"]
                live[name] = None
                if entry["_KIND"]:
                    del live[name]
    rows = []
    for name in live:
        (path,) = root.rglob(name)
        rows += pq.ParquetFile(path).read().to_pylist()
    if schema["primaryKeys"]:
        rows.sort(key=lambda row: row["_SEQUENCE_NUMBER"])
        last = {tuple(row[key] for key in schema["primaryKeys"]): row for row in rows}
        rows = [row for row in last.values() if row["_VALUE_KIND"] in (0, 2)]
    return [{name: row[name] for name in names} for row in rows]


def _by_pypaimon(root: str) -> Rows:
    from pypaimon.table.file_store_table import FileStoreTable

    builder = FileStoreTable.from_path(root).new_read_builder()
    rows: Rows = builder.new_read().to_arrow(builder.new_scan().plan().splits()).to_pylist()
    return rows


if __name__ == "__main__":
    print(json.dumps(_by_pypaimon(sys.argv[1]), default=str))
