"""What takes the batches of a sink in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..context import TranslationContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class BatchWriter:
    """Writes the batches of a query into one table; the same as the Java writers, for clients that Python alone has."""

    def __init__(self, context: TranslationContext) -> None:
        self._counts = context.runtime.sink.Counts()
        self._reads = context.runtime.batch.RowsRead

    def messages(self, frame: DataFrame) -> DataFrame:
        """What is written of a batch, which tells in one column how many rows they are when it is run."""
        raise NotImplementedError

    def write(self, frame: DataFrame, batch: int) -> None:
        """Write a batch: the columns of the table, then, in a changelog, row kind and sequence number."""
        done = self.messages(frame)
        written = sum(row[0] for row in done.collect())
        self._counts.add(batch, written, self._reads.of(done._jdf.queryExecution().executedPlan()))

    def countLate(self, node: int, late: Any) -> None:
        """Have the rows counted that a node drops."""
        self._counts.add(node, late)

    def counts(self, batch: int) -> str | None:
        """What a batch has done; it can be asked once."""
        found: str | None = self._counts.take(batch)
        return found
