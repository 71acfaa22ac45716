"""What a sink does with rows that break its table's constraints.

Source: Flink's options ``table.exec.sink.not-null-enforcer`` and ``table.exec.sink.type-length-enforcer``.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ..plan.nodes import Sink
from ..plan.types import LogicalType
from .context import TranslationContext
from .stream import Stream
from .tables import Table

if TYPE_CHECKING:
    from pyspark.sql import Column

NOT_NULL = "table.exec.sink.not-null-enforcer"
LENGTH = "table.exec.sink.type-length-enforcer"


def enforce_constraints(node: Sink, table: Table, stream: Stream, context: TranslationContext) -> Stream:
    """Drop, mend or refuse (when the job runs) the rows that the table's columns cannot hold."""
    from pyspark.sql import functions as F

    columns = list(stream.columns)
    required = [i for i, (_, t) in enumerate(table.physical) if not t.nullable]
    if required and context.option(node, NOT_NULL, "ERROR") == "DROP":
        stream = stream.where(reduce(lambda a, b: a & b, (columns[i].isNotNull() for i in required)))
        columns = list(stream.columns)
    elif required:
        for i in required:
            columns[i] = F.coalesce(columns[i], F.raise_error(F.lit(_null_message(table.physical[i][0]))))
    length = context.option(node, LENGTH, "IGNORE")
    if length != "IGNORE":
        for i, (name, declared) in enumerate(table.physical):
            columns[i] = _fitted(columns[i], name, declared, strict=length == "ERROR")
    return stream.select(columns, stream.type)


def _null_message(name: str) -> str:
    return (
        f"Column '{name}' is NOT NULL, however, a null value is being written into it. "
        f"You can set job configuration '{NOT_NULL}'='DROP' to suppress this exception and drop such records silently."
    )


def _fitted(column: Column, name: str, declared: LogicalType, strict: bool) -> Column:
    """A text or bytes cut, and where the length is fixed filled up, to the declared length."""
    from pyspark.sql import functions as F

    fixed = declared.root in ("CHAR", "BINARY")
    if declared.length is None or (not fixed and declared.root not in ("VARCHAR", "VARBINARY")):
        return column
    textual = declared.root in ("CHAR", "VARCHAR")
    size = F.char_length(column) if textual else F.octet_length(column)
    wrong = size != declared.length if fixed else size > declared.length
    if strict:
        message = (
            f"Column '{name}' is {declared.root}({declared.length}), however, a value of another length is being "
            f"written into it. You can set job configuration '{LENGTH}'='TRIM_PAD' to trim and pad."
        )
        return F.when(wrong, F.raise_error(F.lit(message))).otherwise(column)
    cut = F.substring(column, 1, declared.length)
    padding = F.lit(" ") if textual else F.lit(b"\0")
    return F.when(wrong, F.rpad(cut, declared.length, padding) if fixed else cut).otherwise(column)
