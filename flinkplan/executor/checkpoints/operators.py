"""The operators with state of a streaming query: what each keeps, and how, as its kernel declares it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...plan.record import Record
from ..jvm.spark import T

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
        self.operators = tuple(_operator(description) for description in json.loads(self.java.operators()))


def _operator(description: dict[str, Any]) -> Operator:
    if "kernel" not in description:
        return Operator(description["operator"], None, None, None, ())
    variables = tuple(_variable(number, variable) for number, variable in enumerate(description["variables"]))
    return Operator(
        description["operator"], description["kernel"], description["timeMode"], _schema(description["key"]), variables
    )


def _variable(number: int, description: dict[str, Any]) -> Variable:
    map_key = None if description["mapKey"] is None else _schema(description["mapKey"])
    return Variable(
        number, description["name"], description["kind"], map_key, _schema(description["value"]), description["expires"]
    )


def _schema(json_schema: dict[str, Any]) -> StructType:
    """A schema, all of whose fields may be NULL: that they are not is the kernel's matter."""
    return T.StructType.fromJson(_nullable(json_schema))


def _nullable(json_schema: Any) -> Any:
    if isinstance(json_schema, list):
        return [_nullable(item) for item in json_schema]
    if not isinstance(json_schema, dict):
        return json_schema
    flags = {"nullable", "containsNull", "valueContainsNull"}
    return {key: key in flags or _nullable(value) for key, value in json_schema.items()}
