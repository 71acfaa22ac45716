"""Window operators with Python classes: from the parts of a plan, and between Spark's values and Python's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from ....plan.errors import FlinkplanError, UnsupportedError
from ....plan.record import Record
from ....plan.rex import RexNode
from ....plan.specs import Evictor, ProcessWindowFunction, PythonPart, Trigger, WindowAssigner
from ....plan.specs.window_parts import ValueKind, constructor_arguments, declared_arguments
from ....plan.types import LogicalType
from ....windowing import builtins, functions, triggers, windows
from ....windowing.operator import Operator, Timing, Ttls
from ....windowing.rows import named_row, row_maker
from ...jvm.spark import F
from ...prepare.python_classes import Reference

if TYPE_CHECKING:
    from pyspark.sql import Column


class PythonOperator(Record):
    """A window operator that a worker makes: parts are either built in or :class:`Reference`.

    ``keys`` are places in the row, whose columns have ``names`` and ``types``; ``results`` are those of the function.
    """

    assigner: Any
    trigger: Any
    evictor: Any
    function: Any
    keys: tuple[int, ...]
    names: tuple[str, ...]
    types: tuple[LogicalType, ...]
    result_names: tuple[str, ...]
    result_types: tuple[LogicalType, ...]
    lateness: int
    late: bool
    counts: bool
    ttls: Ttls
    timing: Timing
    modules: tuple[str, ...]

    def made(self) -> Operator:
        """The operator.  Raises :class:`FlinkplanError` for a class that is none, or is not as the plan says."""
        function_class = functions.ProcessWindowFunction if self.keys else functions.ProcessAllWindowFunction
        assigner = _made(self.assigner, windows.WindowAssigner)
        trigger = _made(self.trigger, triggers.Trigger)
        if isinstance(assigner, windows.MergingWindowAssigner) and not triggers.can_merge(trigger):
            raise FlinkplanError(
                f"{type(trigger).__name__} cannot be merged, as these windows must be: it has no on_merge"
            )
        return Operator(
            assigner,
            trigger,
            _made(self.evictor, functions.Evictor),
            _made(self.function, function_class),
            self.result_names,
            self.row,
            self.lateness,
            self.late,
            self.counts,
            self.ttls,
            self.timing,
        )

    @property
    def row(self) -> Callable[[tuple[Any, ...]], Any]:
        """How Python classes see a row's values."""
        readers = tuple(_reader(t) for t in self.types)
        make = row_maker(tuple(self.names))
        return lambda values: make([read(v) for read, v in zip(readers, values, strict=True)])

    def key(self, values: Sequence[Any]) -> Any:
        """The key of a row's values, as Python classes see it."""
        key = [_reader(self.types[k])(values[k]) for k in self.keys]
        return key[0] if len(key) == 1 else self.named(key) if key else None

    def named(self, key: Any) -> Any:
        """A key with the names that its columns have now, which may be others than when it was kept."""
        return named_row([self.names[k] for k in self.keys], key) if len(self.keys) > 1 else key


def _made(part: Any, interface: type) -> Any:
    if isinstance(part, Reference):
        return part.make(interface)
    if isinstance(part, partial):
        return part.func(_made(part.args[0], interface), *part.args[1:])
    return part


# ---------------------------------------------------------------- parts of a plan


def _reference(part: PythonPart, folders: tuple[str, ...]) -> Reference:
    """A user's Python class."""
    return Reference(part.python_class, part.arguments, folders)


def python_part(part: WindowAssigner | Trigger | Evictor, folders: tuple[str, ...]) -> Any:
    """An assigner, trigger or evictor in Python; one with a nested trigger is constructed when that is.

    Raises :class:`UnsupportedError` for one that only the kernel has.
    """
    if isinstance(part, PythonPart):
        return _reference(part, folders)
    name = f"{part.kind.capitalize()}Windows" if isinstance(part, WindowAssigner) else type(part).__name__
    implementation = getattr(builtins, name, None)
    if implementation is None:
        raise UnsupportedError(f"{type(part).__name__} beside Python classes")
    arguments = [*constructor_arguments(part, lambda nested: python_part(nested, folders), _no_expressions)]
    if isinstance(part, WindowAssigner):
        arguments.append(part.is_event_time)
    elif isinstance(part, Evictor):
        arguments.append(part.do_evict_after)
    nests = any(declared.kind is ValueKind.TRIGGER for declared in declared_arguments(type(part)))
    return partial(implementation, *arguments) if nests else implementation(*arguments)


def _no_expressions(rex: RexNode) -> Any:
    raise UnsupportedError("an expression of SQL beside Python classes")


def python_function(function: Any, folders: tuple[str, ...]) -> Reference:
    """A function in Python."""
    if isinstance(function, ProcessWindowFunction):
        return _reference(function, folders)
    raise UnsupportedError("a function in SQL beside a Python assigner, trigger or evictor", hint="write 'process'")


# ---------------------------------------------------------------- values


def encoded(column: Column, t: LogicalType) -> Column:
    """A column as it goes to Python: times as numbers, which no time zone changes on the way."""

    return F.unix_micros(column) if t.root.startswith("TIMESTAMP") else column


def decoded(column: Column, t: LogicalType) -> Column:
    """The same on the way back."""

    return F.timestamp_micros(column) if t.root.startswith("TIMESTAMP") else column


_EPOCH = datetime(1970, 1, 1)


def _reader(t: LogicalType) -> Callable[[Any], Any]:
    match t.root:
        case "TIMESTAMP":
            return lambda v: None if v is None else _EPOCH + timedelta(microseconds=v)
        case "TIMESTAMP_LTZ":
            epoch = _EPOCH.replace(tzinfo=UTC)
            return lambda v: None if v is None else epoch + timedelta(microseconds=v)
        case "TIME":
            return lambda v: None if v is None else (_EPOCH + timedelta(milliseconds=v)).time()
        case "BINARY" | "VARBINARY":
            return lambda v: None if v is None else bytes(v)
    return lambda v: v


_ACCEPTED: Mapping[str, tuple[type, ...]] = {
    "BOOLEAN": (bool,),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), (int,)),
    **dict.fromkeys(("FLOAT", "DOUBLE"), (float, int)),
    "DECIMAL": (Decimal, int),
    **dict.fromkeys(("CHAR", "VARCHAR"), (str,)),
    **dict.fromkeys(("BINARY", "VARBINARY"), (bytes, bytearray)),
    "DATE": (date,),
    "TIME": (time,),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), (datetime,)),
}


def writer(name: str, t: LogicalType) -> Callable[[Any], Any]:
    """Checks a value that a Python class gives, and makes it one of Spark's."""
    accepted = _ACCEPTED[t.root]

    def write(value: Any) -> Any:
        if value is None:
            if not t.nullable:
                raise TypeError(f"the column '{name}' is {t}, but a result has None there")
            return None
        if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
            raise TypeError(f"the column '{name}' is {t}, but a result has {value!r} there")
        return _stored(value, t)

    return write


def _stored(value: Any, t: LogicalType) -> Any:
    match t.root:
        case "FLOAT" | "DOUBLE":
            return float(value)
        case "DECIMAL":
            return round(Decimal(value), t.scale or 0)
        case "TIME":
            return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            moment = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            return (moment - _EPOCH) // timedelta(microseconds=1)
    return value
