"""The parts of a case as Python classes: those of ``window_classes``, which say the same as what is built in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Case = Mapping[str, Any]
Json = dict[str, Any]


def python_window(operator: Case, columns: Mapping[str, str], safe: Mapping[str, str]) -> Json:
    """The window of an operator; ``columns`` are those of its result, ``safe`` the names that columns have."""
    window: Json = {"assign": _assigner(operator["window"], safe), "process": _function(operator, columns, safe)}
    if operator["trigger"]:
        name, arguments, clock = _trigger(operator["trigger"], safe)
        window["trigger"] = {**_class(name, arguments), **({"clock": True} if clock else {})}
    if operator["evictor"]:
        window["evict"] = _class(*_evictor(operator["evictor"], safe))
    return window


def _class(name: str, arguments: Json) -> Json:
    return {"class": f"window_classes:{name}", **({"with": arguments} if arguments else {})}


def _assigner(window: Case, safe: Mapping[str, str]) -> Json:
    event = window.get("time") == "event"
    time = {} if event or window["kind"] == "global" else {"time": "processing"}
    match window["kind"]:
        case "global":
            return {**_class("Global", {}), "time": "processing"}
        case "session" | "dynamic_session":
            column = window.get("gap_column")
            gap = window["gap_ms"] if column is None else safe.get(column, column)
            return {**_class("Session", {"gap": gap, "event_time": event}), **time, "merging": True}
    size = window["size_ms"]
    slide, offset = window.get("slide_ms", size), window.get("offset_ms", 0)
    return {**_class("Sliding", {"size": size, "slide": slide, "offset": offset, "event_time": event}), **time}


def _trigger(trigger: Case, safe: Mapping[str, str]) -> tuple[str, Json, bool]:
    """The class, what it is made with, and whether it goes by the clock."""
    match trigger["kind"]:
        case "event_time":
            return "EventTime", {}, False
        case "processing_time":
            return "ProcessingTime", {}, True
        case "never":
            return "Never", {}, False
        case "end_of_stream":
            return "EndOfStream", {}, False
        case "count":
            return "Count", {"count": trigger["count"]}, False
        case "continuous_event_time" | "continuous_processing_time" as kind:
            event = kind == "continuous_event_time"
            return "Continuous", {"interval": trigger["interval_ms"], "event_time": event}, not event
        case "delta":
            return "Delta", _delta(trigger, safe), False
    name, arguments, clock = _trigger(trigger["of"], safe)
    nested = {"of": name, "arguments": arguments}
    if trigger["kind"] == "purging":
        return "Purging", nested, clock
    nested |= {
        "interval": trigger["timeout_ms"],
        "resets": trigger.get("reset_on_element", False),
        "clears": trigger.get("clear_on_timeout", True),
    }
    return "Timeout", nested, True


def _delta(of: Case, safe: Mapping[str, str]) -> Json:
    return {"column": safe.get(of["column"], of["column"]), "threshold": of["threshold"], "delta": of["delta"]}


def _evictor(evictor: Case, safe: Mapping[str, str]) -> tuple[str, Json]:
    after = {"after": evictor.get("after", False)}
    match evictor["kind"]:
        case "count":
            return "CountEvictor", {"count": evictor["count"], **after}
        case "time":
            return "TimeEvictor", {"size": evictor["size_ms"], **after}
    return "DeltaEvictor", {**_delta(evictor, safe), **after}


def _function(operator: Case, columns: Mapping[str, str], safe: Mapping[str, str]) -> Json:
    function = operator["function"]
    named = {safe.get(name, name): kind for name, kind in columns.items()}
    what: tuple[str, Json]
    match function["kind"]:
        case "reduce":
            what = "Reduce", {"columns": {safe.get(c, c): how for c, how in function["columns"].items()}}
        case "aggregate":
            what = "Aggregate", {"calls": [[c, safe.get(of, of), name] for c, of, name in function["calls"]]}
        case "process_with_state":
            what = "Counting", {"window_state": function.get("window_state", True)}
        case _:
            what = "Emit", {key: function[key] for key in ("emit", "n", "column") if key in function}
    name, arguments = what
    return {**_class(f"{'Keyed' if operator['key_by'] else 'All'}{name}", arguments), "columns": named}
