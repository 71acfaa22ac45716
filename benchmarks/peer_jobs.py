"""The queries of ``peers.py`` as jobs of Pathway and DuckDB; it runs in their virtual environment.

peer_jobs.py pathway|duckdb QUERY bounded|stream FOLDER ROWS
"""

import os
import sys
from importlib import import_module
from typing import Any

KEYS = 100_000
MINUTE = 60
"""Seconds of a window."""
QUERIES = ("count", "join", "window")

SQL = {
    "count": "SELECT k, count(*), sum(v) FROM events GROUP BY k",
    "join": "SELECT e.k, e.v, n.name FROM events e JOIN names n ON e.k = n.k",
    "window": f"SELECT t // {MINUTE}, v, count(*), sum(k) FROM events GROUP BY ALL",
}
COLUMNS = {"events": "{k: 'BIGINT', v: 'BIGINT', t: 'BIGINT'}", "names": "{k: 'BIGINT', name: 'VARCHAR'}"}


def run_duckdb(query: str, folder: str) -> None:
    """All rows at once."""
    connection: Any = import_module("duckdb").connect()
    for table, path in (("events", "rows"), ("names", "names")):
        read = f"read_json('{folder}/{path}/*.json', format = 'newline_delimited', columns = {COLUMNS[table]})"
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM {read}")
    connection.execute(f"CREATE TEMPORARY TABLE result AS {SQL[query]}")


def run_pathway(query: str, folder: str, rows: int, is_stream: bool) -> None:
    """All rows at once, or a folder that is watched until all have been counted."""
    pw: Any = import_module("pathway")
    event, name = pw.schema_from_types(k=int, v=int, t=int), pw.schema_from_types(k=int, name=str)
    mode = "streaming" if is_stream else "static"
    events = pw.io.jsonlines.read(f"{folder}/rows", schema=event, mode=mode)
    if query == "count":
        result = events.groupby(events.k).reduce(events.k, n=pw.reducers.count(), s=pw.reducers.sum(events.v))
    elif query == "join":
        names = pw.io.jsonlines.read(f"{folder}/names", schema=name, mode="static")
        result = events.join(names, events.k == names.k).select(events.k, events.v, names.name)
    else:
        windows = events.windowby(events.t, window=pw.temporal.tumbling(duration=MINUTE), instance=events.v)
        result = windows.reduce(
            pw.this._pw_window_start, pw.this._pw_instance, n=pw.reducers.count(), s=pw.reducers.sum(pw.this.k)
        )
    pw.io.null.write(result)
    if is_stream:
        counted: Any = events.reduce(n=pw.reducers.count())

        def on_change(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
            if is_addition and row["n"] == rows:
                os._exit(0)

        pw.io.subscribe(counted, on_change=on_change)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


if __name__ == "__main__":
    _, engine, job, kind, data, count = sys.argv
    if engine == "duckdb":
        run_duckdb(job, data)
    else:
        run_pathway(job, data, int(count), kind == "stream")
