"""The operators with state of a streaming query: what each keeps, and how, as its kernel declares it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...plan.record import Record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


class Variable(Record):
    """What Spark keeps a state in, or a part of one; ``number`` is that by which the kernel's bootstrap knows it.

    ``kind``: ``value``, ``list`` or ``map``.  ``expires``: each entry has a time at which it is gone.
    """

    number: int
    name: str
    kind: str
    map_key: StructType | None
    value: StructType
    expires: bool


class Operator(Record):
    """An operator by Spark's number; ``kernel`` is the class of its kernel, ``None`` where it is Spark's own.

    ``time_mode`` is what its timers go by: ``EventTime`` or ``ProcessingTime``.
    """

    number: int
    kernel: str | None
    time_mode: str | None
    key: StructType | None
    variables: tuple[Variable, ...]

    def variable(self, name: str) -> Variable:
        """The variable of this name."""
        return next(v for v in self.variables if v.name == name)


class StatefulQuery:
    """A streaming query as something that keeps state; ``frame`` is what it makes before anything writes it."""

    def __init__(self, frame: DataFrame) -> None:
        spark = frame.sparkSession
        assert spark._jvm is not None
        self.frame = frame
        self.java: Any = spark._jvm.flinkplan.runtime.checkpoint.CheckpointWriter(frame._jdf)
        self.operators = tuple(_operator(found) for found in json.loads(self.java.operators()))


def _operator(found: dict[str, Any]) -> Operator:
    if "kernel" not in found:
        return Operator(found["operator"], None, None, None, ())
    variables = tuple(_variable(number, variable) for number, variable in enumerate(found["variables"]))
    return Operator(found["operator"], found["kernel"], found["timeMode"], _schema(found["key"]), variables)


def _variable(number: int, found: dict[str, Any]) -> Variable:
    map_key = None if found["mapKey"] is None else _schema(found["mapKey"])
    return Variable(number, found["name"], found["kind"], map_key, _schema(found["value"]), found["expires"])


def _schema(found: dict[str, Any]) -> StructType:
    """A schema, all of whose fields may be NULL: that they are not is the kernel's matter."""
    from pyspark.sql.types import StructType

    return StructType.fromJson(_nullable(found))


def _nullable(found: Any) -> Any:
    if isinstance(found, list):
        return [_nullable(item) for item in found]
    if not isinstance(found, dict):
        return found
    flags = {"nullable", "containsNull", "valueContainsNull"}
    return {key: key in flags or _nullable(value) for key, value in found.items()}
