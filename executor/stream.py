"""What flows between operators: a DataFrame whose hidden columns carry Flink's changelog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..plan.types import LogicalType

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KIND = "__kind"
"""TINYINT: 0 +I, 1 -U, 2 +U, 3 -D.  Present in every stream that is not insert-only."""

SEQUENCE = "__seq"
"""BIGINT: the order of rows; kernels sort a key's rows of a batch by it.  Present where KIND is."""

LATENESS = "__wm"
"""BIGINT: Flink's watermark (epoch ms) as the row arrived.  Present from a watermark assigner on."""

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(4)


def column_name(index: int) -> str:
    """The name of the column at ``index``; never the user's, so that no plan text reaches Spark SQL."""
    return f"c{index}"


@dataclass(frozen=True)
class Stream:
    """The rows of a node.

    ``frame`` has one column per field of ``type``, named by :func:`column_name`, then hidden ones.
    ``rowtime`` is the column that Spark's watermark is on (event-time streams only).
    """

    frame: DataFrame
    type: LogicalType
    changelog: bool = False
    rowtime: int | None = None

    def column(self, index: int) -> Column:
        """The column at ``index``."""
        return self.frame[column_name(index)]
