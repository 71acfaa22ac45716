"""What a scan, or a lookup, wants of its table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ....plan.document import Plan
from ....plan.nodes import ExecNode
from ....plan.specs import PartitionPushDown, ProjectPushDown, ReadingMetadata, SourceAbility
from ....plan.types import LogicalType
from ...connectors.tables import Table
from ...errors import TableError
from ...jvm.spark import fields
from ...jvm.types import field_name
from ...prepare.known.used_fields import fields_read
from ..stream import column_name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class Request:
    """What a scan wants of its table: paths into physical columns, then metadata columns.

    ``columns`` are the physical ones that are wanted, at all or in part, those of the partition last; ``offered`` are
    the types of all metadata by key.
    """

    def __init__(
        self,
        table: Table,
        paths: Sequence[tuple[int, ...]],
        metadata: Sequence[str],
        partitions: Sequence[Mapping[str, str | None]] | None,
        offered: Mapping[str, LogicalType],
    ) -> None:
        self.paths = paths
        self._offered = offered
        self.metadata = metadata
        self.only = partitions
        names = [n for n, _ in table.physical]
        wanted = dict.fromkeys(names[path[0]] for path in paths)
        self.fields = [n for n in wanted if n not in table.partition_keys]
        self.partitions = [n for n in wanted if n in table.partition_keys]
        types = dict(table.physical)
        self.columns = [(n, types[n]) for n in (*self.fields, *self.partitions)]
        self.positions = {names.index(n): i for i, (n, _) in enumerate(self.columns)}

    @classmethod
    def of(cls, table: Table, abilities: Iterable[SourceAbility] | None, offered: Mapping[str, LogicalType]) -> Request:
        """What a source's abilities say.  Raises :class:`TableError` for metadata that the table does not offer."""
        paths: Sequence[tuple[int, ...]] = [(i,) for i in range(len(table.physical))]
        metadata: Sequence[str] = ()
        partitions = None
        for ability in abilities or ():
            match ability:
                case ProjectPushDown(projected_fields=projected):
                    paths = projected
                case ReadingMetadata(metadata_keys=keys):
                    metadata = keys
                case PartitionPushDown(partitions=only):
                    partitions = only
        for key in metadata:
            if key not in offered:
                raise TableError(f"there is no metadata '{key}' here", hint=f"one of {', '.join(offered)}")
        return cls(table, paths, metadata, partitions, offered)

    def outputs(self, frame: DataFrame) -> list[Column]:
        """The scan's columns, named by position."""
        columns = []
        for path in self.paths:
            column = fields.field(frame, column_name(self.positions[path[0]]))
            for index in path[1:]:
                column = column.getField(field_name(index))
            columns.append(column)
        columns += [fields.field(frame, column_name(len(self.columns) + i)) for i in range(len(self.metadata))]
        return [c.alias(column_name(i)) for i, c in enumerate(columns)]

    def read_by(self, plan: Plan, node: ExecNode) -> dict[str, list[tuple[str, ...]]]:
        """The paths in columns, by their names, that somebody behind the scan ``node`` reads."""
        paths_by_column: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for index, *names in fields_read(plan, node):
            if isinstance(index, int) and index < len(self.paths):
                column, *within = self.paths[index]
                name, type_ = self.columns[self.positions[column]]
                path = []
                for place in within:
                    path.append(type_.fields[place].name)
                    type_ = type_.fields[place].type
                paths_by_column[name].append((*path, *map(str, names)))
        return paths_by_column

    @property
    def metadata_types(self) -> list[LogicalType]:
        """The types of the metadata columns."""
        return [self._offered[key].nullable_() for key in self.metadata]
