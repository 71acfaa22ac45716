"""What is told of a running job."""

from __future__ import annotations

import json

from flinkplan.cli.progress import as_json
from flinkplan.executor.progress import OperatorProgress, QueryProgress


def test_a_batch_is_a_line_of_json() -> None:
    operator = OperatorProgress("Join", 7, 5, 1, 4096)
    batch = QueryProgress("o", 3, 10, 4, 2.468, 90, "2020-01-01T00:00:00Z", (operator,))
    assert json.loads(json.dumps(as_json(batch))) == {
        "event": "batch",
        "sink": "o",
        "batch": 3,
        "rows_read": 10,
        "rows_written": 4,
        "rows_per_second": 2.5,
        "duration_ms": 90,
        "watermark": "2020-01-01T00:00:00Z",
        "operators": [
            {"name": "Join", "state_rows": 7, "updated_rows": 5, "dropped_rows": 1, "memory_bytes": 4096},
        ],
    }
