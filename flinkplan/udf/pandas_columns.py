"""Between Arrow arrays and the pandas Series that PyFlink gives to functions with ``func_type="pandas"``.

An INT with NULLs comes as float64 with NaN; NaN in a result is NULL.  A ROW is a DataFrame.  Times and timestamps have
no zone but those of TIMESTAMP_LTZ, which have the session's.  Source: ``pyflink/table/utils.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..plan.types import LogicalType
from .values import arrow_type, has_nanos, writer

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def series_of(array: pa.Array, t: LogicalType, zone: str) -> pd.Series | pd.DataFrame:
    """The series of an array of the type ``t``; of a ROW the data frame."""
    import pandas as pd

    if t.root in ("ROW", "STRUCTURED"):
        columns: Any = array
        fields = zip(columns.flatten(), t.field_names, t.field_types, strict=True)
        return pd.concat([series_of(c, f, zone).rename(name) for c, name, f in fields], axis=1)
    series = _as_in_flink(array, t).to_pandas(date_as_object=True)
    return series.dt.tz_localize(zone) if t.root == "TIMESTAMP_LTZ" else series


def _as_in_flink(array: Any, t: LogicalType) -> pa.Array:
    """The array as PyFlink has it in Arrow: with times of their own type, and timestamps without a zone."""
    import pyarrow as pa

    match t.root:
        case "TIME":
            return array.cast(pa.time32("ms"))
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            micros = array.flatten()[0] if has_nanos(t) else array
            unit = ("s", "ms", "ms", "ms", "us", "us", "us", "ns", "ns", "ns")[
                t.precision if t.precision is not None else 6
            ]
            return micros.cast(pa.timestamp("us")).cast(pa.timestamp(unit), safe=False)
        case "ARRAY":
            elements = _as_in_flink(array.values, t.element)
            return pa.ListArray.from_arrays(_offsets(array), elements, mask=array.is_null())
        case "MAP":
            key, value = t.children
            keys, items = _as_in_flink(array.keys, key), _as_in_flink(array.items, value)
            return pa.MapArray.from_arrays(_offsets(array), keys, items, mask=array.is_null())
        case "ROW" | "STRUCTURED":
            fields = [_as_in_flink(c, f) for c, f in zip(array.flatten(), t.field_types, strict=True)]
            return pa.StructArray.from_arrays(fields, list(t.field_names), mask=array.is_null())
    return array


def _offsets(array: Any) -> pa.Array:
    """The offsets of a list array, in an array of their own: Arrow takes no part of one beside a mask."""
    import pyarrow as pa

    return pa.array(array.offsets.to_numpy())


def to_array(result: Any, t: LogicalType, zone: str) -> pa.Array:
    """The array of what a function returned.  Raises an exception of pandas or Arrow where it is not of the type."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(result, pd.DataFrame):
        if t.root not in ("ROW", "STRUCTURED"):
            raise TypeError(f"the result type is {t}, not a ROW")
        columns = [to_array(result[result.columns[i]], f, zone) for i, f in enumerate(t.field_types)]
        return pa.StructArray.from_arrays(columns, [f"f{i}" for i in range(len(columns))])
    match t.root:
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            if isinstance(result.dtype, pd.DatetimeTZDtype):
                result = result.dt.tz_convert(zone).dt.tz_localize(None)
            micros = pa.Array.from_pandas(result, mask=result.isnull(), type=pa.timestamp("us"))
            if (t.precision or 0) <= 3:
                micros = micros.cast(pa.timestamp("ms"), safe=False).cast(pa.timestamp("us"))
            zoned = micros.cast(pa.int64()).cast(pa.timestamp("us", tz="UTC"))
            if not has_nanos(t):
                return zoned
            nanos = pa.array([0] * len(zoned), pa.int16())
            return pa.StructArray.from_arrays([zoned, nanos], ["micros", "nanos"], mask=zoned.is_null())
        case "TIME":
            times = pa.Array.from_pandas(result, mask=result.isnull(), type=pa.time64("us"))
            millis = pa.compute.divide(times.cast(pa.int64()), 1000)
            return millis.cast(pa.int32())
        case "ARRAY" | "MAP":
            made = dict if t.root == "MAP" else list
            return writer(t)([None if _is_null(v) else made(v) for v in result])
    return pa.Array.from_pandas(result, mask=result.isnull(), type=arrow_type(t))


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)
