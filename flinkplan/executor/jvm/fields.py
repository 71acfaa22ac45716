"""Columns as they stand in a frame: the JVM hears of them in one call, or where something is computed of them.

Each call into the JVM takes a tenth of a millisecond, and most of what is selected is only named anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame
from pyspark.sql.classic.column import Column

from .java import active_jvm, java_method

if TYPE_CHECKING:
    from pyspark.sql import Column as AnyColumn

_FUNCTIONS = "org.apache.spark.sql.functions"

_NAMES: WeakKeyDictionary[DataFrame, tuple[str, ...]] = WeakKeyDictionary()


class _Field(Column):
    def __new__(cls, frame: DataFrame | None, source: str, name: str) -> _Field:
        return object.__new__(cls)

    def __init__(self, frame: DataFrame | None, source: str, name: str) -> None:
        self.frame, self.source, self.named = frame, source, name
        self._made: Any = None

    @property
    def _jc(self) -> Any:
        if self._made is None:
            find = java_method(active_jvm(), _FUNCTIONS, "col") if self.frame is None else self.frame._jdf.apply
            column = find(self.source)
            self._made = column if self.named == self.source else getattr(column, "as")(self.named)
        return self._made

    def alias(self, *alias: str, **kwargs: Any) -> AnyColumn:
        if len(alias) == 1 and not kwargs:
            return _Field(self.frame, self.source, alias[0])
        return super().alias(*alias, **kwargs)


def field(frame: DataFrame, source: str, name: str = "") -> AnyColumn:
    """The column ``source`` of ``frame``, under a ``name`` if it gets another one."""
    return _Field(frame, source, name or source)


def unbound(name: str) -> AnyColumn:
    """The column of this name in whatever frame it is used over."""
    return _Field(None, name, name)


def names(frame: DataFrame) -> tuple[str, ...]:
    """The names of the columns of ``frame``."""
    cached = _NAMES.get(frame)
    if cached is None:
        cached = _NAMES[frame] = tuple(_frames(frame, "names")(frame._jdf).split("\n"))
    return cached


def select(frame: DataFrame, columns: Iterable[AnyColumn | str]) -> DataFrame:
    """The rows of ``frame`` with ``columns`` alone, of which texts name columns of it."""
    named: list[tuple[str, str] | None] = []
    computed = []
    for column in columns:
        if isinstance(column, str):
            named.append((column, column))
        elif isinstance(column, _Field) and column.frame is frame:
            named.append((column.source, column.named))
        else:
            named.append(None)
            computed.append(column._jc)
    return DataFrame(_frames(frame, "select")(frame._jdf, json.dumps(named), computed), frame.sparkSession)


def select_where(frame: DataFrame, condition: AnyColumn, names: Sequence[str]) -> DataFrame:
    """The rows of ``frame`` with the columns of ``names``, all of which are NULL where ``condition`` is not true."""
    selected = _frames(frame, "selectWhere")(frame._jdf, condition._jc, json.dumps(names))
    return DataFrame(selected, frame.sparkSession)


def _frames(frame: DataFrame, method: str) -> Any:
    return java_method(frame.sparkSession._jvm, "flinkplan.runtime.pyspark.Frames", method)
