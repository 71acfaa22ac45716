"""The section ``windows`` of a spec: windows of the DataStream API."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.durations import DurationError, parse_duration
from ...plan.record import Json
from ..sql import ast
from ..sql.ast import stream_windows as w
from . import sql
from .errors import SpecError
from .nodes import Mapping, Node, Scalar

_FUNCTIONS = ("reduce", "aggregate", "elements", "process")
_ASSIGNERS = ("tumbling", "sliding", "session", "session-by", "class")


def views_of(key: Scalar, window: Mapping) -> Iterator[ast.CreateView]:
    """A window as a view, and another one for its late rows."""
    body = _window(key, window)
    late = window.scalar("late-into")
    yield _view(key, body)
    if late is not None:
        yield _view(late, w.WindowQuery(**{f: getattr(body, f) for f in body.__struct_fields__} | {"is_late": True}))


def _view(key: Scalar, body: w.WindowQuery) -> ast.CreateView:
    return ast.CreateView(sql.name(key), ast.Query(body, span=key.span), temporary=True, span=key.span)


def _window(key: Scalar, window: Mapping) -> w.WindowQuery:
    assign, trigger, evict = window.get("assign"), window.get("trigger"), window.get("evict")
    assert assign is not None
    return w.WindowQuery(
        _source(window),
        tuple(sql.column_ref(column) for column in window.scalars("key-by")),
        _assigner(assign),
        None if trigger is None else _trigger(trigger),
        None if not isinstance(evict, Mapping) else _evictor(evict),
        _lateness(window),
        _function(window, key),
        has_late_output=window.get("late-into") is not None,
        span=key.span,
    )


def _source(window: Mapping) -> ast.TableRef | ast.DerivedTable:
    source = window.scalar("from")
    assert source is not None
    if any(c.isspace() for c in source.text.strip()):
        return ast.DerivedTable(sql.query(source), span=source.span)
    return ast.TableRef(sql.name(source), span=source.span)


def _assigner(assign: Node) -> w.WindowAssigner:
    if isinstance(assign, Scalar):
        return w.WindowAssigner("global", is_event_time=False, span=assign.span)
    assert isinstance(assign, Mapping)
    kind, value = _one_of(assign, _ASSIGNERS)
    others = {"tumbling": ("offset",), "sliding": ("slide", "offset"), "class": ("with", "merging")}.get(kind, ())
    for key, _ in assign.entries:
        if key.text in ("offset", "slide", "with", "merging") and key.text not in others:
            raise SpecError(f"'{key.text}' cannot stand beside '{kind}'", key.span)
    if kind == "sliding" and assign.get("slide") is None:
        raise SpecError("'sliding' needs a 'slide'", assign.span, "such as {sliding: 10 min, slide: 5 min}")
    on = assign.scalar("on")
    assert isinstance(value, Scalar)
    if kind == "class":
        return w.WindowAssigner(
            "python",
            is_event_time=assign.text("time") != "processing",
            column=None if on is None else sql.column_ref(on),
            python=_python(assign),
            merges=assign.flag("merging"),
            span=value.span,
        )
    return w.WindowAssigner(
        "session" if kind == "session-by" else kind,
        0 if kind == "session-by" else _duration(value),
        _duration(assign.get("slide")),
        _duration(assign.get("offset")),
        sql.expression(value) if kind == "session-by" else None,
        assign.text("time") != "processing",
        None if on is None else sql.column_ref(on),
        span=value.span,
    )


def _trigger(trigger: Node) -> w.Trigger:
    if isinstance(trigger, Scalar):
        return w.SimpleTrigger(trigger.text, span=trigger.span)
    assert isinstance(trigger, Mapping)
    kind, value = _one_of(trigger, ("count", "every", "every-by-clock", "delta", "purging", "timeout", "class"))
    if kind == "class":
        return w.PythonTrigger(_python(trigger), trigger.flag("clock"), span=value.span)
    if kind == "purging":
        return w.PurgingTrigger(_trigger(value), span=trigger.span)
    if kind == "timeout":
        inner = trigger.get("of")
        if inner is None:
            raise SpecError("'timeout' needs the trigger that it is put around", trigger.span, "as 'of'")
        clears = trigger.scalar("clear")
        return w.TimeoutTrigger(
            _trigger(inner),
            _duration(value),
            trigger.flag("reset"),
            clears is None or clears.data is True,
            span=trigger.span,
        )
    assert isinstance(value, Scalar)
    if kind == "count":
        return w.CountTrigger(_number(value), span=trigger.span)
    if kind == "delta":
        return w.DeltaTrigger(sql.expression(value), _threshold(trigger), span=trigger.span)
    return w.ContinuousTrigger(_duration(value), kind == "every", span=trigger.span)


def _evictor(evict: Mapping) -> w.Evictor:
    kind, value = _one_of(evict, ("count", "time", "delta", "class"))
    assert isinstance(value, Scalar)
    if kind == "class":
        return w.PythonEvictor(_python(evict), span=value.span)
    after = evict.flag("after")
    if kind == "count":
        return w.CountEvictor(_number(value), after, span=evict.span)
    if kind == "time":
        return w.TimeEvictor(_duration(value), after, span=evict.span)
    return w.DeltaEvictor(sql.expression(value), _threshold(evict), after, span=evict.span)


def _lateness(window: Mapping) -> int:
    value = window.get("allowed-lateness")
    lateness = _duration(value)
    if lateness < 0 and value is not None:
        raise SpecError("a lateness cannot be negative", value.span, "to have fewer late rows, delay the watermark")
    return lateness


def _function(window: Mapping, key: Scalar) -> w.WindowFunction:
    if (fold := window.entry("fold")) is not None:
        raise SpecError(
            "'fold' is not supported: its results cannot be merged for sessions, and Flink has removed it",
            fold[0].span,
            "write it as 'aggregate', or as a Python class by 'process'",
        )
    kind, value = _one_of(window, _FUNCTIONS)
    if kind == "process":
        assert isinstance(value, Mapping)
        declared = value.mapping("columns").entries
        returned = tuple(
            ast.PhysicalColumn(sql.identifier(column), sql.data_type(declared_type), span=column.span)
            for column, declared_type in declared
            if isinstance(declared_type, Scalar)
        )
        return w.Process(_python(value), returned, span=value.span)
    if isinstance(value, Mapping) and kind != "elements":
        columns = tuple(
            w.NamedValue(sql.identifier(column), sql.expression(written), span=column.span)
            for column, written in value.entries
            if isinstance(written, Scalar)
        )
        return w.Reduce(columns, span=value.span) if kind == "reduce" else w.AggregateWindow(columns, span=value.span)
    if isinstance(value, Scalar):
        limits = {"all": None, "first": 1, "last": 1}
        return w.Elements(limits[value.text], value.text == "last", span=value.span)
    assert isinstance(value, Mapping)
    which, limit = _one_of(value, ("first", "last"))
    assert isinstance(limit, Scalar)
    order = tuple(sql.sort_item(item) for item in value.scalars("by"))
    return w.Elements(_number(limit), which == "last", order, span=value.span)


def _python(mapping: Mapping) -> w.PythonClass:
    """A Python class, and what it is made with."""
    path = mapping.scalar("class")
    assert path is not None
    return w.PythonClass(path.text, Json(mapping.mapping("with").data), span=path.span)


def _one_of(mapping: Mapping, keys: tuple[str, ...]) -> tuple[str, Node]:
    """The one key of several that a mapping has.  Raises :class:`SpecError` for none or two."""
    entries = [entry for entry in mapping.entries if entry[0].text in keys]
    if not entries:
        raise SpecError(f"there is none of {', '.join(map(repr, keys))} here", mapping.span, "one of them is needed")
    if len(entries) > 1:
        first, second = entries[0][0], entries[1][0]
        raise SpecError(f"'{second.text}' cannot stand beside '{first.text}'", second.span, "choose one of them")
    return entries[0][0].text, entries[0][1]


def _duration(value: Node | None) -> int:
    """Milliseconds of a duration such as ``5 s``, which may be negative."""
    if value is None:
        return 0
    assert isinstance(value, Scalar)
    text = value.text.strip()
    sign = -1 if text.startswith("-") else 1
    try:
        return sign * parse_duration(text.removeprefix("-"))
    except DurationError as e:
        raise SpecError(e.message, value.span, "such as 5 s, 10 min or 1 h") from None


def _number(value: Scalar) -> int:
    if not isinstance(value.data, int) or isinstance(value.data, bool):
        raise SpecError(f"'{value.text}' is no whole number", value.span)
    return value.data


def _threshold(mapping: Mapping) -> float:
    value = mapping.scalar("threshold")
    if value is None or not isinstance(value.data, (int, float)) or isinstance(value.data, bool):
        place = mapping.span if value is None else value.span
        raise SpecError("a delta needs a number as its 'threshold'", place)
    return float(value.data)
