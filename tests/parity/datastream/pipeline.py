"""A case as a pipeline in YAML: its rows and watermarks in a table of files, its operators as windows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .python_pipeline import python_window

Case = Mapping[str, Any]
Json = dict[str, Any]

_SAFE: dict[str, str] = {"window_start": "start_of_window", "window_end": "end_of_window"}
"""Names that columns of rows have while the windows that read them have some of these names."""


def event_lines(case: Case) -> list[str]:
    """The entries of ``events`` as lines of the table's files."""
    names = [_stored(name, kind) for name, kind in case["columns"]]
    lines = []
    for number, event in enumerate(case["events"]):
        if isinstance(event, dict):
            row: Json = {"is_row": False, "watermark_ms": event["watermark"], "ts_ms": 0}
        else:
            row = {"is_row": True, **dict(zip(names, event, strict=True))}
        lines.append(json.dumps({"number": number, **row}))
    return lines


def _stored(name: str, kind: str) -> str:
    """The column of the files that holds a column's values; times are milliseconds there."""
    return f"{name}_ms" if kind.startswith("TIMESTAMP") else name


def pipeline(cases: Sequence[Case], folder: Path, python: bool = False) -> Json:
    """The spec of some cases together: each reads ``folder/in/NAME``, all write ``folder/out``.

    ``python``: what is built in is said by Python classes.
    What is written is the case, the output (``main``, or ``late`` and the operator's number), and the row as JSON.
    """
    spec: Json = {"version": 1, "tables": {}, "views": {}, "windows": {}}
    outputs = [
        output for number, case in enumerate(cases) for output in _add(spec, case, f"c{number}_", folder, python)
    ]
    columns = {"case_name": "STRING", "output": "STRING", "row_text": "STRING"}
    spec["tables"]["results"] = {"columns": columns, "with": _files(folder / "out")}
    spec["inserts"] = [{"into": "results", "query": "\nUNION ALL\n".join(outputs)}]
    return spec


def _add(spec: Json, case: Case, prefix: str, folder: Path, python: bool) -> Iterator[str]:
    """Adds a case's parts, named by a prefix; gives the queries of its outputs."""
    spec["tables"][f"{prefix}events"] = _events(case, folder / "in" / case["name"])
    names, types = [name for name, _ in case["columns"]], dict(case["columns"])
    spec["views"][f"{prefix}rows_0"] = f"SELECT {_list(names)} FROM {prefix}events WHERE is_row"
    for number, operator in enumerate(case["operators"]):
        window = {"from": f"{prefix}rows_{number}", **_window(operator, names)}
        if python:
            columns = _function_columns(operator, names, types, number > 0)
            window = {key: value for key, value in window.items() if key not in _PARTS}
            window |= python_window(operator, columns, _SAFE)
        if operator.get("late_output"):
            window["late-into"] = f"{prefix}late_{number}"
            yield _output(case, f"late {number}", names, types, f"{prefix}late_{number}")
        spec["windows"][f"{prefix}window_{number}"] = window
        names, types = _result(operator, names, types)
        selected = ", ".join(
            f"{_source(name, operator)} AS {_quoted(_SAFE.get(name, name))}" for name in [*names, "window_time"]
        )
        spec["views"][f"{prefix}rows_{number + 1}"] = f"SELECT {selected} FROM {prefix}window_{number}"
    yield _output(case, "main", names, types, f"{prefix}rows_{len(case['operators'])}")


def _output(case: Case, output: str, names: Sequence[str], types: Mapping[str, str], source: str) -> str:
    def value(name: str) -> str:
        column = _quoted(_SAFE.get(name, name))
        return f"CAST({column} AS STRING)" if types[name].startswith("TIMESTAMP") else column

    pairs = ", ".join(f"KEY '{name}' VALUE {value(name)}" for name in names)
    return f"SELECT '{case['name']}', '{output}', JSON_OBJECT({pairs}) FROM {source}"


def _source(name: str, operator: Case) -> str:
    """Where a result's column is among the columns of the window."""
    if name == "firings_of_window" and operator["function"].get("window_state") is False:
        return "CAST(NULL AS BIGINT)"
    if name == "window_time":
        return "window_time"
    kept = name in ("window_start", "window_end") and not _has_bounds(operator)
    return _quoted(_SAFE[name] if kept else name)


def _has_bounds(operator: Case) -> bool:
    function = operator["function"]
    return function["kind"] != "reduce" or bool(function.get("with_window"))


def _events(case: Case, folder: Path) -> Json:
    columns: Json = {"number": "BIGINT", "is_row": "BOOLEAN", "watermark_ms": "BIGINT"}
    for name, kind in case["columns"]:
        columns[_stored(name, kind)] = "BIGINT" if kind.startswith("TIMESTAMP") else kind
    for name, kind in case["columns"]:
        if kind.startswith("TIMESTAMP"):
            columns[name] = {"as": f"TO_TIMESTAMP_LTZ(`{name}_ms`, 3)"}
    table: Json = {"columns": columns, "with": _files(folder)}
    table["with"]["scan.watermark.emit.strategy"] = "on-event"
    kind = case["watermark"]["kind"]
    if kind == "explicit":
        table["watermark"] = {"column": "ts", "as": "TO_TIMESTAMP_LTZ(watermark_ms, 3)"}
    elif kind == "none":
        table["watermark"] = {"column": "ts", "as": "CAST(NULL AS TIMESTAMP_LTZ(3))"}
    else:
        seconds, millis = divmod(case["watermark"]["delay_ms"] + 1, 1000)
        delay = f"INTERVAL '{seconds}.{millis:03}' SECOND({max(2, len(str(seconds)))}, 3)"
        table["watermark"] = {"column": "ts", "as": f"ts - {delay}"}
    return table


def _files(folder: Path) -> Json:
    return {
        "connector": "filesystem",
        "path": str(folder),
        "format": "json",
        "json.timestamp-format.standard": "ISO-8601",
    }


def _quoted(name: str) -> str:
    return f"`{name}`"


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(_quoted, names))


# ---------------------------------------------------------------- an operator


def _window(operator: Case, names: Sequence[str]) -> Json:
    window: Json = {"assign": _assigner(operator["window"])}
    if operator["key_by"]:
        window["key-by"] = [_quoted(_SAFE.get(name, name)) for name in operator["key_by"]]
    if operator["trigger"]:
        window["trigger"] = _trigger(operator["trigger"])
    if operator["evictor"]:
        window["evict"] = _evictor(operator["evictor"])
    if operator.get("allowed_lateness_ms"):
        window["allowed-lateness"] = _duration(operator["allowed_lateness_ms"])
    return window | _function(operator, names)


def _duration(millis: int) -> str:
    return f"{millis} ms"


def _assigner(window: Case) -> Any:
    time = {"time": "processing"} if window.get("time") == "processing" else {}
    match window["kind"]:
        case "global":
            return "global"
        case "session":
            return {"session": _duration(window["gap_ms"]), **time}
        case "dynamic_session":
            return {"session-by": _quoted(window["gap_column"]), **time}
    sizes = {window["kind"]: _duration(window["size_ms"]), **time}
    if "slide_ms" in window:
        sizes["slide"] = _duration(window["slide_ms"])
    if window.get("offset_ms"):
        sizes["offset"] = _duration(window["offset_ms"])
    return sizes


def _trigger(trigger: Case) -> Any:
    match trigger["kind"]:
        case "event_time" | "processing_time" | "never" | "end_of_stream":
            return trigger["kind"].replace("_", "-")
        case "count":
            return {"count": trigger["count"]}
        case "continuous_event_time":
            return {"every": _duration(trigger["interval_ms"])}
        case "continuous_processing_time":
            return {"every-by-clock": _duration(trigger["interval_ms"])}
        case "delta":
            return {"delta": _delta(trigger), "threshold": trigger["threshold"]}
        case "purging":
            return {"purging": _trigger(trigger["of"])}
    return {
        "timeout": _duration(trigger["timeout_ms"]),
        "of": _trigger(trigger["of"]),
        "reset": trigger.get("reset_on_element", False),
        "clear": trigger.get("clear_on_timeout", True),
    }


def _delta(of: Case) -> str:
    name: str = of["column"]
    column = _quoted(_SAFE.get(name, name))
    signed = f"b.{column} - a.{column}"
    return f"ABS({signed})" if of["delta"] == "absolute" else signed


def _evictor(evictor: Case) -> Json:
    after = {"after": True} if evictor.get("after") else {}
    match evictor["kind"]:
        case "count":
            return {"count": evictor["count"], **after}
        case "time":
            return {"time": _duration(evictor["size_ms"]), **after}
    return {"delta": _delta(evictor), "threshold": evictor["threshold"], **after}


def _function(operator: Case, names: Sequence[str]) -> Json:
    function = operator["function"]
    keys = {_SAFE.get(name, name): _quoted(_SAFE.get(name, name)) for name in operator["key_by"]}
    match function["kind"]:
        case "reduce":
            return {"reduce": {c: _reduced(_quoted(_SAFE.get(c, c)), how) for c, how in function["columns"].items()}}
        case "aggregate":
            calls = {name: _call(call, _quoted(_SAFE.get(column, column))) for call, column, name in function["calls"]}
            return {"aggregate": keys | calls}
        case "process_with_state":
            firings = {"firings_of_key": "key_firing"}
            if function.get("window_state", True):
                firings["firings_of_window"] = "window_firing"
            return {"aggregate": keys | {"n": "COUNT(*)"} | firings}
    match function["emit"]:
        case "count":
            return {"aggregate": keys | {"n": "COUNT(*)"}}
        case "top":
            others: list[str] = [_SAFE.get(name, name) for name in names if name != function["column"]]
            by = [f"{_quoted(function['column'])} DESC NULLS LAST", *(f"{_quoted(n)} NULLS FIRST" for n in others)]
            return {"elements": {"first": function["n"], "by": by}}
    return {"elements": function["emit"]}


def _reduced(column: str, how: str) -> str:
    a, b = f"a.{column}", f"b.{column}"
    if how in ("first", "last"):
        return f"COALESCE({a}, {b})" if how == "first" else f"COALESCE({b}, {a})"
    both = {"sum": f"{a} + {b}", "min": f"CASE WHEN {b} < {a} THEN {b} ELSE {a} END"}
    both["max"] = f"CASE WHEN {b} > {a} THEN {b} ELSE {a} END"
    return f"CASE WHEN {a} IS NULL THEN {b} WHEN {b} IS NULL THEN {a} ELSE {both[how]} END"


def _call(function: str, column: str) -> str:
    match function:
        case "count":
            return "COUNT(*)" if column == "`*`" else f"COUNT({column})"
        case "avg":
            return f"AVG(CAST({column} AS DOUBLE))"
        case "listagg":
            return f"LISTAGG(CAST({column} AS STRING))"
    return f"{function.upper()}({column})"


_PARTS = ("assign", "trigger", "evict", "reduce", "aggregate", "elements")


def _function_columns(operator: Case, names: Sequence[str], types: Mapping[str, str], follows: bool) -> dict[str, str]:
    """The columns of an operator's function, without the window's bounds.

    ``follows``: its rows are results of another one, which have the time of their window.
    """
    function, (_, found) = operator["function"], _result(operator, names, types)
    keeps = function["kind"] == "reduce" or function.get("emit") in ("all", "first", "last", "top")
    bounds = () if keeps else ("window_start", "window_end")
    left_out = (*bounds, *(("firings_of_window",) if function.get("window_state") is False else ()))
    columns = {name: types[name] for name in names} if keeps else found
    if keeps and follows:
        columns["window_time"] = "TIMESTAMP_LTZ(3)"
    return {name: kind for name, kind in columns.items() if name not in left_out}


def _result(operator: Case, names: Sequence[str], types: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The columns of an operator's result, with their types."""
    found: dict[str, str] = {}
    function = operator["function"]
    keeps = function["kind"] == "reduce" or function.get("emit") in ("all", "first", "last", "top")
    if keeps:
        found = {name: types[name] for name in names}
    else:
        found = {name: types[name] for name in operator["key_by"]}
        found |= dict(_computed(function, types))
    if _has_bounds(operator):
        found |= dict.fromkeys(("window_start", "window_end"), "TIMESTAMP_LTZ(3)")
    return list(found), found


def _computed(function: Case, types: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if function["kind"] != "aggregate":
        yield "n", "BIGINT"
    if function["kind"] == "process_with_state":
        yield "firings_of_window", "BIGINT"
        yield "firings_of_key", "BIGINT"
    for call, column, name in function.get("calls", ()):
        kinds = {"count": "BIGINT", "avg": "DOUBLE", "listagg": "STRING"}
        yield name, kinds.get(call) or types[column]
