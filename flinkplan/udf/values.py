"""Between columns of Spark, as Arrow arrays, and the Python values that PyFlink gives to functions and takes from them.

| Flink | Python |
|---|---|
| BOOLEAN | bool |
| TINYINT … BIGINT | int |
| FLOAT, DOUBLE | float |
| DECIMAL | Decimal, with the scale of the type |
| CHAR, VARCHAR | str |
| BINARY, VARBINARY | bytes |
| DATE, TIME, TIMESTAMP | date, time, datetime |
| TIMESTAMP_LTZ | datetime of the clock in UTC, with the session's time zone: so PyFlink gives it |
| ARRAY, MAP | list, dict |
| ROW | :class:`~..windowing.rows.Row` with the names of its fields |

What functions return is checked and converted as PyFlink's coders do: a str for an INT is refused, a bool becomes 1, a
float loses its fraction; texts are neither cut nor padded, and None passes where a type is NOT NULL.  Source:
``pyflink/fn_execution/coder_impl_fast.pyx``.

How Spark holds each type stands in ``executor/jvm/types.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Context, Decimal, InvalidOperation
from itertools import chain, pairwise
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

from ..plan.errors import UnsupportedError
from ..plan.types import INTEGER_BITS, TIMESTAMPS, LogicalType
from ..plan.types.arrow import ARROW_NAMES
from ..windowing.rows import Row, row_maker

if TYPE_CHECKING:
    import pyarrow as pa

Reader: TypeAlias = Callable[["pa.Array"], list[Any]]
"""The Python values of an Arrow array."""
Writer: TypeAlias = Callable[[Sequence[Any]], "pa.Array"]
"""The Arrow array of Python values.  Raises :class:`ResultError` for one that the type does not take."""

_EPOCH = datetime(1970, 1, 1)
_MICROS = 6
"""How many digits of a second Spark's timestamps have."""


class ResultError(Exception):
    """A value that does not fit the declared type: its ``position`` among the values, and why."""

    def __init__(self, position: int, value: Any, problem: str) -> None:
        super().__init__(problem)
        self.position = position
        self.value = value
        self.problem = problem


_SIMPLE = {**ARROW_NAMES, "BINARY": "binary", "TIME": "int32"}


def check_type(t: LogicalType) -> None:
    """Raise :class:`UnsupportedError` for a type whose values no Python function can be given."""
    if t.root in ("ARRAY", "MAP", "ROW", "STRUCTURED"):
        for child in t.field_types if t.root in ("ROW", "STRUCTURED") else t.children:
            check_type(child)
    elif t.root not in (*_SIMPLE, *TIMESTAMPS, "DECIMAL"):
        raise UnsupportedError(
            f"a Python function cannot be given values of the type {t}", hint="CAST them to a type that PyFlink has"
        )


def arrow_type(t: LogicalType) -> pa.DataType:
    """The Arrow type of a column of Spark that holds values of ``t``."""
    import pyarrow as pa

    if t.root in _SIMPLE:
        return getattr(pa, _SIMPLE[t.root])()
    match t.root:
        case "DECIMAL":
            return pa.decimal128(t.precision or 10, t.scale or 0)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            micros = pa.timestamp("us", tz="UTC")
            return pa.struct([("micros", micros), ("nanos", pa.int16())]) if has_nanos(t) else micros
        case "ARRAY":
            return pa.list_(arrow_type(t.element))
        case "MAP":
            return pa.map_(*map(arrow_type, t.children))
        case "ROW" | "STRUCTURED":
            return pa.struct([(f"f{i}", arrow_type(f)) for i, f in enumerate(t.field_types)])
    raise UnsupportedError(f"no Python function takes values of the type {t}")


def has_nanos(t: LogicalType) -> bool:
    """Whether ``t`` is a timestamp that Spark holds as a struct of ``micros`` and ``nanos``."""
    return t.root in TIMESTAMPS and (t.precision or 0) > _MICROS


# ---------------------------------------------------------------- from Spark to Python


def reader(t: LogicalType, zone: str) -> Reader:
    """What reads columns of the type ``t``; ``zone`` is the session's time zone."""
    match t.root:
        case "TIME":
            return lambda array: [None if v is None else _time(v) for v in array.to_pylist()]
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return _timestamp_reader(t, zone)
        case "ARRAY":
            return _array_reader(reader(t.element, zone))
        case "MAP":
            return _map_reader(*(reader(child, zone) for child in t.children))
        case "ROW" | "STRUCTURED":
            return _row_reader(t, zone)
    return lambda array: array.to_pylist()


def _time(millis: int) -> time:
    seconds, rest = divmod(millis, 1000)
    minutes, second = divmod(seconds, 60)
    return time(*divmod(minutes, 60), second, rest * 1000)


def _timestamp_reader(t: LogicalType, zone: str) -> Reader:
    is_struct = has_nanos(t)
    localize = _localizer(zone) if t.root == "TIMESTAMP_LTZ" else None

    def read(array: pa.Array) -> list[Any]:
        import pyarrow as pa

        micros = array.flatten()[0] if is_struct else array
        values = [None if v is None else _EPOCH + timedelta(0, 0, v) for v in micros.cast(pa.int64()).to_pylist()]
        return values if localize is None else [None if v is None else localize(v) for v in values]

    return read


def _localizer(zone: str) -> Callable[[datetime], datetime]:
    """What gives a datetime the zone; pytz's, which PyFlink uses, where pandas has brought it along."""
    try:
        import pytz  # type: ignore[import-untyped]

        localize: Callable[[datetime], datetime] = pytz.timezone(zone).localize
        return localize
    except ImportError:
        from zoneinfo import ZoneInfo

        known: tzinfo = ZoneInfo(zone)
        return lambda moment: moment.replace(tzinfo=known)


def _array_reader(element: Reader) -> Reader:
    def read(array: Any) -> list[Any]:
        elements = element(array.values)
        bounds = pairwise(array.offsets.to_pylist())
        return [
            elements[start:end] if valid else None
            for (start, end), valid in zip(bounds, array.is_valid().to_pylist(), strict=True)
        ]

    return read


def _map_reader(key: Reader, value: Reader) -> Reader:
    def read(array: Any) -> list[Any]:
        keys, values = key(array.keys), value(array.items)
        bounds = pairwise(array.offsets.to_pylist())
        return [
            dict(zip(keys[start:end], values[start:end], strict=True)) if valid else None
            for (start, end), valid in zip(bounds, array.is_valid().to_pylist(), strict=True)
        ]

    return read


def _row_reader(t: LogicalType, zone: str) -> Reader:
    make, fields = row_maker(tuple(t.field_names)), [reader(f, zone) for f in t.field_types]

    def read(array: Any) -> list[Any]:
        columns = [field(column) for field, column in zip(fields, array.flatten(), strict=True)]
        rows = zip(*columns, strict=True) if columns else [()] * len(array)
        if not array.null_count:
            return list(map(make, rows))
        return [
            make(values) if valid else None for values, valid in zip(rows, array.is_valid().to_pylist(), strict=True)
        ]

    return read


# ---------------------------------------------------------------- from Python to Spark


def writer(t: LogicalType) -> Writer:
    """What makes columns of the type ``t`` of what functions return."""
    return _Writer(t)


class _Writer:
    """Converts values one by one only if there are others than those that Arrow takes as PyFlink's coders do."""

    def __init__(self, t: LogicalType) -> None:
        self._type = t
        self._plain = _PLAIN.get(t.root, frozenset())
        self._convert = converter(t)

    def __call__(self, values: Sequence[Any]) -> pa.Array:
        import pyarrow as pa

        t = self._type
        if (array := self._as_they_are(values)) is not None:
            return array
        converted = self._converted(values)
        match t.root:
            case "TIMESTAMP" | "TIMESTAMP_LTZ" if has_nanos(t):
                micros = pa.array(converted, pa.int64()).cast(pa.timestamp("us", tz="UTC"))
                nanos = pa.array([None if v is None else 0 for v in converted], pa.int16())
                return pa.StructArray.from_arrays([micros, nanos], ["micros", "nanos"], mask=micros.is_null())
            case "TIMESTAMP" | "TIMESTAMP_LTZ":
                return pa.array(converted, pa.int64()).cast(pa.timestamp("us", tz="UTC"))
            case "ARRAY":
                return _list_array(converted, t)
            case "MAP":
                return _map_array(converted, t)
            case "ROW" | "STRUCTURED":
                return _struct_array(converted, t)
        return pa.array(converted, arrow_type(t))

    def _as_they_are(self, values: Sequence[Any]) -> pa.Array | None:
        """The array of values that need no conversion by us; ``None`` where one may, or does not fit the type."""
        import pyarrow as pa

        root = self._type.root
        try:
            if root in ("CHAR", "VARCHAR"):
                array = pa.array(values)
                return array if array.type == pa.string() else None
            if root in _NUMERIC or set(map(type, values)) <= self._plain:
                return pa.array(values, arrow_type(self._type))
        except (pa.ArrowException, OverflowError):
            pass  # the conversion of each value finds which one
        return None

    def _converted(self, values: Sequence[Any]) -> list[Any]:
        converted: list[Any] = []
        convert = self._convert
        try:
            converted.extend(None if v is None else convert(v) for v in values)
        except _REFUSED as e:
            value = values[len(converted)]
            raise ResultError(len(converted), value, _problem(self._type, e)) from None
        return converted


_REFUSED = (TypeError, ValueError, AttributeError, OverflowError, InvalidOperation)


def _problem(t: LogicalType, error: Exception) -> str:
    return f"the result type is {t}, which does not take it ({type(error).__name__}: {error})"


_NUMERIC = frozenset((*INTEGER_BITS, "BOOLEAN", "FLOAT", "DOUBLE"))
"""The types whose values Arrow makes as PyFlink's coders do of whatever it takes; where it takes nothing, they may.

Looking at the class of each value costs two thirds of what it costs Arrow to take it.
"""

_PLAIN: dict[str, frozenset[type]] = {
    **dict.fromkeys(("BINARY", "VARBINARY"), frozenset((bytes, type(None)))),
    "DATE": frozenset((date, type(None))),
    "NULL": frozenset((type(None),)),
}
"""The classes whose values Arrow takes as PyFlink's coders do."""


def converter(t: LogicalType) -> Callable[[Any], Any]:
    """What checks a value, not None, and makes of it the one that is held: times and timestamps are numbers there.

    The values in arrays, maps and rows stay as they are.
    """
    if t.root in INTEGER_BITS:
        return _integer(INTEGER_BITS[t.root])
    match t.root:
        case "DECIMAL":
            return _decimal(t.precision or 10, t.scale or 0)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return _truncated_micros if (t.precision or 0) <= 3 else _micros
        case "ROW" | "STRUCTURED":
            return _fields_of(list(t.field_names))
    return _CONVERTERS[t.root]


def _integer(bits: int) -> Callable[[Any], int]:
    limit = 1 << bits - 1

    def convert(value: Any) -> int:
        number = int(value) if not isinstance(value, (str, bytes, bytearray)) else index(value)  # type: ignore[arg-type]
        if not -limit <= number < limit:
            raise OverflowError("the number is too large")
        return number

    return convert


def _boolean(value: Any) -> bool:
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError("an integer is required")
    if not 0 <= int(value) < 256:
        raise OverflowError("the number is too large")
    return int(value) != 0


def _real(value: Any) -> float:
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"it is {_a(value)}, not a str")
    return value


def _bytes(value: Any) -> bytes:
    if not isinstance(value, (bytes, bytearray)):
        raise TypeError(f"it is {_a(value)}, not bytes")
    return bytes(value)


def _decimal(precision: int, scale: int) -> Callable[[Any], Decimal]:
    context, unit = Context(prec=precision), Decimal(1).scaleb(-scale)

    def convert(value: Any) -> Decimal:
        if not isinstance(value, Decimal):
            raise TypeError(f"it is {_a(value)}, not a Decimal")
        return value.quantize(unit, context=context)

    return convert


def _date(value: Any) -> date:
    if not isinstance(value, date):
        raise TypeError(f"it is {_a(value)}, not a date")
    return date.fromordinal(value.toordinal())


def _millis_of_day(value: Any) -> int:
    if not isinstance(value, (time, datetime)):
        raise TypeError(f"it is {_a(value)}, not a time")
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


_MICROSECOND = timedelta(microseconds=1)


def _micros(value: Any) -> int:
    """Microseconds from 1970 to what the clock shows: PyFlink does not look at the zone of a datetime."""
    if not isinstance(value, datetime):
        raise TypeError(f"it is {_a(value)}, not a datetime")
    return (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND


def _truncated_micros(value: Any) -> int:
    micros = _micros(value)
    return micros - micros % 1000


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"it is {_a(value)}, not a list")
    return value


def _dict(value: Any) -> Any:
    if not hasattr(value, "items"):
        raise TypeError(f"it is {_a(value)}, not a dict")
    if None in value:
        raise TypeError("a key is None")
    return value


def _fields_of(names: list[str]) -> Callable[[Any], list[Any]]:
    def convert(value: Any) -> list[Any]:
        if not isinstance(value, Row):
            raise TypeError(f"it is {_a(value)}, not a Row")
        fields = value.get_fields_by_names(names)
        if len(fields) != len(names):
            raise ValueError(f"the Row has {len(fields)} values, the type {len(names)}")
        return fields

    return convert


def _a(value: Any) -> str:
    name = type(value).__name__
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def _none(value: Any) -> None:
    raise TypeError(f"it is {_a(value)}, not None")


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "BOOLEAN": _boolean,
    **dict.fromkeys(("FLOAT", "DOUBLE"), _real),
    **dict.fromkeys(("CHAR", "VARCHAR"), _text),
    **dict.fromkeys(("BINARY", "VARBINARY"), _bytes),
    "DATE": _date,
    "TIME": _millis_of_day,
    "ARRAY": _list,
    "MAP": _dict,
    "NULL": _none,
}


def _within(position: Callable[[int], int], write: Writer, values: Sequence[Any]) -> pa.Array:
    """The array of nested values; an error of one is that of the value it is in."""
    try:
        return write(values)
    except ResultError as e:
        raise ResultError(position(e.position), e.value, e.problem) from None


def _offsets(values: Sequence[Any]) -> list[int]:
    offsets, end = [0], 0
    for value in values:
        end += 0 if value is None else len(value)
        offsets.append(end)
    return offsets


def _owner(offsets: Sequence[int]) -> Callable[[int], int]:
    """Which value an element is of."""
    from bisect import bisect_right

    return lambda position: bisect_right(offsets, position) - 1


def _list_array(values: Sequence[Any], t: LogicalType) -> pa.Array:
    import pyarrow as pa

    offsets = _offsets(values)
    elements = list(chain.from_iterable(v for v in values if v is not None))
    inner = _within(_owner(offsets), writer(t.element), elements)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), inner, mask=_nulls(values))


def _map_array(values: Sequence[Any], t: LogicalType) -> pa.Array:
    import pyarrow as pa

    offsets = _offsets(values)
    keys = list(chain.from_iterable(v for v in values if v is not None))
    items = list(chain.from_iterable(v.values() for v in values if v is not None))
    inner = [_within(_owner(offsets), writer(c), part) for c, part in zip(t.children, (keys, items), strict=True)]
    return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), *inner, mask=_nulls(values))


def _struct_array(values: Sequence[Any], t: LogicalType) -> pa.Array:
    import pyarrow as pa

    width = len(t.field_types)
    nothing = [None] * width
    columns = list(zip(*(nothing if v is None else v for v in values), strict=True)) or [()] * width
    arrays = [_within(lambda i: i, writer(f), c) for f, c in zip(t.field_types, columns, strict=True)]
    if not arrays:
        return pa.array([None if v is None else {} for v in values], arrow_type(t))
    return pa.StructArray.from_arrays(arrays, [f"f{i}" for i in range(width)], mask=_nulls(values))


def _nulls(values: Sequence[Any]) -> pa.Array:
    import pyarrow as pa

    return pa.array([v is None for v in values], pa.bool_())
