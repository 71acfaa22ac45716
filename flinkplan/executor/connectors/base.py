"""What a connector is, and the registry they are found through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...plan.nodes import LookupJoin, Sink, TableSourceScan
from ..context import TranslationContext
from ..errors import TableError
from ..stream import Stream
from ..tables import Table


class Connector:
    """Reads and writes tables of one kind; each subclass is one value of the option ``connector``.

    Which options it has stands at its declaration (:mod:`~.plan.connectors`).
    """

    name: str

    repeats = False
    """Whether a table that is read by two streams yields the same rows to both."""

    upserts = False
    """Whether of rows with the same primary key, where a table has one, the last one written stays."""

    def check(self, table: Table, is_source: bool) -> None:
        """Raise :class:`TableError` for what is wrong with the table beyond its options."""

    def is_bounded(self, table: Table) -> bool:
        """Whether reading the table ends."""
        return True

    def can_wait(self, table: Table) -> bool:
        """Whether a stream of the table may be told to begin when others have ended (``Turn.LAST``)."""
        return False

    def may_last(self, table: Table) -> bool:
        """Whether reading a bounded table may take a stream more than the first micro-batch, or have no end."""
        return False

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        """Why the table cannot be read or written row by row, in real-time mode; ``None``: it can."""
        return f"the connector '{self.name}' reads and writes batches"

    def size(self, table: Table) -> int | None:
        """About how many bytes a bounded source will read; ``None``: unknown."""
        return None

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        """The rows of the table as the scan wants them."""
        raise TableError(f"the connector '{self.name}' cannot be read from")

    def lookup(self, table: Table, node: LookupJoin, context: TranslationContext) -> Any:
        """The Java ``Lookup`` of the table, as the node asks it."""
        raise TableError(f"the connector '{self.name}' cannot be looked up")

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        """The spec of the Java writer of the table, one of ``flinkplan.runtime.sink``.

        It is a ``BatchWriter``, or a ``ColumnarWriter`` where the spec has the key ``columnar``.
        """
        raise TableError(f"the connector '{self.name}' cannot be written to")

    def python_writer(
        self, table: Table, node: Sink, rows: Stream, keys: Sequence[int], context: TranslationContext
    ) -> Any:
        """The Java writer of the table's rows where Python alone has a client for it; else ``None``.

        Row kind and what rows stand in order by follow the columns in a changelog; ``keys`` are the indexes of those
        that tell which rows belong together.
        """
        return None


_CONNECTORS: dict[str, Connector] = {}


def connector(cls: type[Connector]) -> type[Connector]:
    """Register a connector."""
    _CONNECTORS[cls.name] = cls()
    return cls


def registered() -> Mapping[str, Connector]:
    """The connectors by name."""
    return _CONNECTORS
