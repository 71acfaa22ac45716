"""The section ``windows`` of a spec: windows of the DataStream API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from ...plan import specs
from ...plan.durations import DurationError, parse_duration
from ...plan.record import Json
from ...plan.specs.window_parts import ValueKind, WindowPart, declared_arguments, declared_parts
from ..sql import ast
from ..sql.ast import stream_windows as w
from . import sql
from .errors import SpecError
from .nodes import Mapping, Node, Scalar

P = TypeVar("P", bound=WindowPart)

_FUNCTIONS = ("reduce", "aggregate", "elements", "process")


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
    parts = declared_parts(specs.WindowAssigner)
    if isinstance(assign, Scalar):
        return w.DeclaredAssigner(_by_keyword(parts, assign), span=assign.span)
    assert isinstance(assign, Mapping)
    is_event_time = assign.text("time") != "processing"
    named = _by_key([part for part in parts if part.is_event_time == is_event_time])
    key, value = _one_of(assign, (*named, "class"))
    on = assign.scalar("on")
    column = None if on is None else sql.column_ref(on)
    keys = {"with", "merging"} if key == "class" else {a.argument.key for a in declared_arguments(named[key])}
    for other, _ in assign.entries:
        if other.text not in ({key, "time", "on", "class"} | keys):
            raise SpecError(f"'{other.text}' cannot stand beside '{key}'", other.span)
    if key == "class":
        return w.PythonAssigner(_python(assign), is_event_time, assign.flag("merging"), column, span=value.span)
    return w.DeclaredAssigner(named[key], _arguments(assign, key, named[key]), column, span=value.span)


def _trigger(trigger: Node) -> w.Trigger:
    parts = declared_parts(specs.Trigger)
    if isinstance(trigger, Scalar):
        return w.DeclaredTrigger(_by_keyword(parts, trigger), span=trigger.span)
    assert isinstance(trigger, Mapping)
    named = _by_key(parts)
    key, value = _one_of(trigger, (*named, "class"))
    if key == "class":
        return w.PythonTrigger(_python(trigger), trigger.flag("clock"), span=value.span)
    return w.DeclaredTrigger(named[key], _arguments(trigger, key, named[key]), span=trigger.span)


def _evictor(evict: Mapping) -> w.Evictor:
    named = _by_key(declared_parts(specs.Evictor))
    key, value = _one_of(evict, (*named, "class"))
    if key == "class":
        return w.PythonEvictor(_python(evict), span=value.span)
    arguments = _arguments(evict, key, named[key])
    return w.DeclaredEvictor(named[key], arguments, evict.flag("after"), span=evict.span)


def _by_keyword(parts: Iterable[type[P]], scalar: Scalar) -> type[P]:
    """The part that a word stands for, which the schema has checked."""
    return next(part for part in parts if part.keyword == scalar.text)


def _by_key(parts: Iterable[type[P]]) -> dict[str, type[P]]:
    """Parts by the key that names them."""
    return {a.argument.key: part for part in parts for a in declared_arguments(part) if a.argument.names_part}


def _arguments(mapping: Mapping, part_key: str, part: type[WindowPart]) -> tuple[w.WindowArgument, ...]:
    """The arguments of a part.  Raises :class:`SpecError` where a required one is missing."""
    arguments = []
    for declared in declared_arguments(part):
        argument = declared.argument
        value = mapping.get(argument.key)
        if value is not None:
            arguments.append(w.WindowArgument(declared.name, _value(declared.kind, value), span=value.span))
        elif declared.required:
            needed = argument.needed or f"a '{argument.key}'"
            hint = f"such as {argument.example}" if argument.example else None
            raise SpecError(f"'{part_key}' needs {needed}", mapping.span, hint)
    return tuple(arguments)


def _value(kind: ValueKind, value: Node) -> ast.Expression | w.Trigger | int | float | bool:
    if kind is ValueKind.TRIGGER:
        return _trigger(value)
    assert isinstance(value, Scalar)
    match kind:
        case ValueKind.DURATION:
            return _duration(value)
        case ValueKind.COUNT:
            return _number(value)
        case ValueKind.NUMBER:
            return float(str(value.data))
        case ValueKind.FLAG:
            return value.data is True
    return sql.expression(value)


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
