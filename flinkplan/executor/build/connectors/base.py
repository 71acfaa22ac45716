"""How tables are read and written, and the registry in which that is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....plan.nodes import LookupJoin, Sink, TableSourceScan
from ...connectors.tables import Table
from ...errors import TableError
from ..context import TranslationContext
from ..stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class TableBuilder:
    """Builds what reads and writes tables of one kind; each subclass is one value of the option ``connector``.

    What is known of them without Spark stands in the module of the same name in ``connectors``.
    """

    name: str

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

    def table_log(self, table: Table, context: TranslationContext) -> Any:
        """What commits the files of a batch to the table, an object that Java calls; ``None``: no commit is needed."""
        return None

    def rows_one_by_one(self, table: Table, node: Sink, rows: Stream, context: TranslationContext) -> DataFrame:
        """The rows as the Java writer of real-time mode takes them."""
        return rows.frame

    def python_writer(
        self, table: Table, node: Sink, rows: Stream, keys: Sequence[int], context: TranslationContext
    ) -> Any:
        """The Java writer of the table's rows where Python alone has a client for it; else ``None``.

        Row kind and what rows stand in order by follow the columns in a changelog; ``keys`` are the indexes of those
        that tell which rows belong together.
        """
        return None


_BUILDERS: dict[str, TableBuilder] = {}


def table_builder(cls: type[TableBuilder]) -> type[TableBuilder]:
    """Register what builds tables of a connector."""
    _BUILDERS[cls.name] = cls()
    return cls


def registered() -> Mapping[str, TableBuilder]:
    """What builds tables by the names of their connectors."""
    return _BUILDERS
