"""A case of one window operator run by Python classes, without Spark: rows in batches, with Spark's watermark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from flinkplan.executor.operators.stream_windows import waits_for_clock, waits_for_events
from flinkplan.executor.python_classes import PythonCode
from flinkplan.executor.python_windows import (
    PythonOperator,
    python_assigner,
    python_evictor,
    python_function,
    python_trigger,
)
from flinkplan.plan.nodes import LateRows, WindowOperator
from flinkplan.planner import compile_script
from flinkplan.windowing.keys import NEVER
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
        python_assigner(node.assigner, CODE.folders),
        python_trigger(node.trigger, CODE.folders),
        python_evictor(node.evictor, CODE.folders),
        python_function(node.function, CODE.folders),
        node.keys,
        tuple(source.output_type.field_names),
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
        self.found: dict[str, list[dict[str, Any]]] = {"main": [], "late": []}

    def run(self, batches: Sequence[Sequence[Any]]) -> dict[str, list[dict[str, Any]]]:
        """What comes out of batches of events, and of the end of input where it ends."""
        for batch in batches:
            self._batch(batch)
        self._batch([])
        if self.case.get("end", "drain") == "drain":
            self.spark = END
            self._expire()
        return self.found

    def _batch(self, events: Sequence[Any]) -> None:
        arrivals: dict[Any, list[Arrival]] = {}
        for event in events:
            if isinstance(event, dict):
                self.watermark = max(self.watermark, event["watermark"])
                continue
            arrival = self._arrival(event)
            arrivals.setdefault(self.keyed.key(arrival.values), []).append(arrival)
            mark = self.case["watermark"]
            if mark["kind"] == "bounded-out-of-orderness":
                self.watermark = max(self.watermark, event[self.time] - mark["delay_ms"] - 1)
        for key, rows in arrivals.items():
            run = self._key_run(key)
            run.take(rows)
            self._end(key, run)
        self._expire()
        if self.watermark > MIN_TIME:
            self.spark = max(self.spark, self.watermark + SHIFT)

    def _arrival(self, event: Sequence[Any]) -> Arrival:
        stored = [
            v * 1000 if k.startswith("TIMESTAMP") else v for v, (_, k) in zip(event, self.case["columns"], strict=True)
        ]
        self.rows += 1
        known = None if self.watermark == MIN_TIME else self.watermark
        time = None if self.time is None else event[self.time]
        return Arrival(time, None, tuple(stored[i] for i in self.order), self.rows, known)

    def _key_run(self, key: Any) -> KeyRun:
        return KeyRun(self.operator, key, self.state.get(key), 1_700_000_000_000, self.spark)

    def _expire(self) -> None:
        due = self.spark if self.operator.timing.in_event_time else NEVER - 1
        for key in [key for key, call in self.calls.items() if call <= due]:
            run = self._key_run(key)
            run.expire()
            self._end(key, run)

    def _end(self, key: Any, run: KeyRun) -> None:
        self.state[key] = run.end()
        self.calls[key] = run.own.scheduled
        for emitted in run.emitted:
            if emitted.late is not None:
                row = dict(zip(self.keyed.names, map(_plain, emitted.late, self.keyed.types), strict=True))
                self.found["late"].append({"operator": 0, "row": row})
                continue
            assert emitted.values is not None
            row = dict(zip(self.keyed.result_names, map(_read, emitted.values), strict=True))
            start, end = emitted.bounds or (None, None)
            row |= self._bounds(start, end)
            self.found["main"].append(row)

    def _bounds(self, start: int | None, end: int | None) -> dict[str, Any]:
        function = self.case["operators"][0]["function"]
        if function["kind"] == "reduce" and not function.get("with_window"):
            return {}
        missing = {"firings_of_window": None} if function.get("window_state") is False else {}
        return {"window_start": start, "window_end": end, **missing}


def _plain(value: Any, t: Any) -> Any:
    return value // 1000 if t.root.startswith("TIMESTAMP") and value is not None else value


def _read(value: Any) -> Any:
    return round(value.timestamp() * 1000) if hasattr(value, "timestamp") else value


def batches(events: Sequence[Any], borders: Sequence[int]) -> Iterator[Sequence[Any]]:
    """Events between borders."""
    places = [0, *borders, len(events)]
    yield from (events[a:b] for a, b in pairwise(places))
