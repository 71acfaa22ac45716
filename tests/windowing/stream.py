"""A case of one window operator run by Python classes, without Spark: rows in batches, with Spark's watermark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from flinkplan.executor.build.python.windows import (
    PythonOperator,
    python_function,
    python_part,
)
from flinkplan.executor.build.python.workers import Batch
from flinkplan.executor.prepare.choose.stream_windows import waits_for_clock, waits_for_events
from flinkplan.executor.prepare.python_classes import PythonCode
from flinkplan.plan.nodes import LateRows, WindowOperator
from flinkplan.planner import compile_script
from flinkplan.windowing.keys import NEVER, KeyState, load
from flinkplan.windowing.operator import END, SHIFT, Arrival, KeyRun, Operator, Timing, Ttls
from flinkplan.windowing.windows import MIN_TIME
from tests.parity.datastream.pipeline import Case, pipeline

CLASSES = Path(__file__).parents[1] / "parity" / "datastream" / "window_classes.py"
CODE = PythonCode(files=(str(CLASSES),))


def operator_of(case: Case) -> tuple[PythonOperator, Operator]:
    """The operator of a case, as the executor makes it of the plan."""
    spec = pipeline([case], Path("folder"), python=True)
    plan = compile_script(json.dumps(spec), file=str(CLASSES.with_name("case.yaml")))
    (node,) = (n for n in plan.nodes if isinstance(n, WindowOperator))
    width = len(node.output_type.fields) - len(node.properties)
    (source,) = plan.inputs(node)
    made = PythonOperator(
        python_part(node.assigner, CODE.folders),
        python_part(node.trigger, CODE.folders),
        None if node.evictor is None else python_part(node.evictor, CODE.folders),
        python_function(node.function, CODE.folders),
        node.keys,
        node.element_names or (),
        tuple(source.output_type.field_types),
        tuple(node.output_type.field_names[:width]),
        tuple(node.output_type.field_types[:width]),
        node.lateness_ms,
        any(isinstance(reader, LateRows) for reader in plan.outputs(node)),
        False,
        Ttls(0, 0, 0, 0, 0),
        Timing(waits_for_clock(node), waits_for_events(node), False, True),
        CODE.allowed,
    )
    return made, made.made()


@cache
def _operator(case: str) -> tuple[PythonOperator, Operator]:
    return operator_of(json.loads(case))


class Stream:
    """Keys with what is kept of them, and Spark's watermark, which moves between batches."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.keyed, self.operator = _operator(json.dumps(case))
        columns = [name for name, _ in case["columns"]]
        safe = {"window_start": "start_of_window", "window_end": "end_of_window"}
        self.order = [columns.index({v: k for k, v in safe.items()}.get(n, n)) for n in self.keyed.names]
        self.time = columns.index("ts") if "ts" in columns else None
        self.state: dict[Any, bytes | None] = {}
        self.calls: dict[Any, int] = {}
        self.watermark = MIN_TIME
        self.spark = 0
        self.rows = 0
        self.results: dict[str, list[dict[str, Any]]] = {"main": [], "late": []}

    def run(self, batches: Sequence[Sequence[Any]]) -> dict[str, list[dict[str, Any]]]:
        """What comes out of batches of events, and of the end of input where it ends."""
        for batch in batches:
            self._batch(batch)
        self._batch([])
        if self.case.get("end", "drain") == "drain":
            self.spark = END
            self._expire()
        return self.results

    def run_at_once(self) -> dict[str, list[dict[str, Any]]]:
        """The same of all events in a batch of Spark."""
        rows: dict[Any, list[dict[str, Any]]] = {}
        for arrival in self._arrivals(self.case["events"]):
            values = {f"c{i}": value for i, value in enumerate(arrival.values)}
            row: dict[str, Any] = {
                "__time": arrival.time,
                "__gap": arrival.gap,
                "__values": values,
                "__seq": arrival.sequence,
            }
            key = {f"k{i}": arrival.values[k] for i, k in enumerate(self.keyed.keys)}
            rows.setdefault(tuple(key.values()), []).append({**key, **row, "__wm": arrival.watermark})
        keys = [f"k{i}" for i in range(len(self.keyed.keys))]
        for emitted in Batch(self.keyed, keys).of(row for of_key in rows.values() for row in of_key):
            for row in emitted:
                result = [row[f"c{i}"] for i in range(len(self.keyed.result_names))]
                late = row["__late"]
                self._found(result, (row["__start"], row["__end"]), None if late is None else [*late.values()])
        return self.results

    def _batch(self, events: Sequence[Any]) -> None:
        arrivals: dict[Any, list[Arrival]] = {}
        for arrival in self._arrivals(events):
            arrivals.setdefault(self.keyed.key(arrival.values), []).append(arrival)
        for key, rows in arrivals.items():
            run = self._key_run(key)
            run.take(rows)
            self._end(key, run)
        self._expire()
        if self.watermark > MIN_TIME:
            self.spark = max(self.spark, self.watermark + SHIFT)

    def _arrivals(self, events: Sequence[Any]) -> Iterator[Arrival]:
        """The rows among events, which move the watermark."""
        mark = self.case["watermark"]
        for event in events:
            if isinstance(event, dict):
                self.watermark = max(self.watermark, event["watermark"])
                continue
            yield self._arrival(event)
            if mark["kind"] == "bounded-out-of-orderness":
                self.watermark = max(self.watermark, event[self.time] - mark["delay_ms"] - 1)

    def _arrival(self, event: Sequence[Any]) -> Arrival:
        stored = [
            v * 1000 if k.startswith("TIMESTAMP") else v for v, (_, k) in zip(event, self.case["columns"], strict=True)
        ]
        self.rows += 1
        known = None if self.watermark == MIN_TIME else self.watermark
        time = None if self.time is None else event[self.time]
        return Arrival(time, None, tuple(stored[i] for i in self.order), self.rows, known)

    def _key_run(self, key: Any) -> KeyRun:
        written = self.state.get(key)
        own = KeyState(key, self.operator.lateness) if written is None else load(written, CODE.allowed)
        return KeyRun(self.operator, own, 1_700_000_000_000, self.spark)

    def _expire(self) -> None:
        due = self.spark if self.operator.timing.in_event_time else NEVER - 1
        for key in [key for key, call in self.calls.items() if call <= due]:
            run = self._key_run(key)
            run.expire()
            self._end(key, run)

    def _end(self, key: Any, run: KeyRun) -> None:
        run.end()
        self.state[key] = None if run.state.is_empty() else run.state.dump()
        self.calls[key] = run.state.scheduled
        for emitted in run.emitted:
            self._found(emitted.values or (), emitted.bounds or (None, None), emitted.late)

    def _found(self, values: Sequence[Any], bounds: tuple[int | None, int | None], late: Sequence[Any] | None) -> None:
        if late is not None:
            row = dict(zip(self.keyed.names, map(_plain, late, self.keyed.types), strict=True))
            self.results["late"].append({"operator": 0, "row": row})
            return
        row = dict(zip(self.keyed.result_names, map(_read, values, self.keyed.result_types), strict=True))
        self.results["main"].append(row | self._bounds(*bounds))

    def _bounds(self, start: int | None, end: int | None) -> dict[str, Any]:
        function = self.case["operators"][0]["function"]
        if function["kind"] == "reduce" and not function.get("with_window"):
            return {}
        missing = {"firings_of_window": None} if function.get("window_state") is False else {}
        return {"window_start": start, "window_end": end, **missing}


def _plain(value: Any, t: Any) -> Any:
    return value // 1000 if t.root.startswith("TIMESTAMP") and value is not None else value


def _read(value: Any, t: Any) -> Any:
    """A function's value, or what is stored of it; times in milliseconds."""
    return round(value.timestamp() * 1000) if hasattr(value, "timestamp") else _plain(value, t)


def batches(events: Sequence[Any], borders: Sequence[int]) -> Iterator[Sequence[Any]]:
    """Events between borders."""
    places = [0, *borders, len(events)]
    yield from (events[a:b] for a, b in pairwise(places))
