"""What is known of a connector without Spark, and the registry in which it is found."""

from __future__ import annotations

from collections.abc import Mapping

from .tables import Table


class Connector:
    """What tables of one kind are like; each subclass is one value of the option ``connector``.

    Which options it has stands at its declaration (:mod:`~.plan.connectors`), how its tables are read and written in
    the module of the same name in ``build/connectors``.
    """

    name: str

    repeats = False
    """Whether a table that is read by two streams yields the same rows to both."""

    upserts = False
    """Whether of rows with the same primary key, where a table has one, the last one written stays."""

    ends_in_batch_mode = False
    """Whether a table that a stream reads without end is read once, its rows all inserted, by a plan of batch mode."""

    answers_lookups = False
    """Whether a lookup join can ask a table for the rows of keys."""

    knows_watermarks = False
    """Whether a source tells watermarks of its own, as SOURCE_WATERMARK() asks for."""

    def check(self, table: Table, is_source: bool) -> None:
        """Raise :class:`TableError` for what is wrong with the table beyond its options."""

    def changes_obstacle(self, table: Table) -> str | None:
        """Why changes that Flink writes are not written to a table; ``None``: they are, or the planner refuses them."""
        return None

    def replaces(self, table: Table) -> bool:
        """Whether of rows with the same primary key, which the table has, the last one written stays."""
        return self.upserts

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


_CONNECTORS: dict[str, Connector] = {}


def connector(cls: type[Connector]) -> type[Connector]:
    """Register a connector."""
    _CONNECTORS[cls.name] = cls()
    return cls


def registered() -> Mapping[str, Connector]:
    """The connectors by name."""
    return _CONNECTORS
