"""What ALTER TABLE and ALTER VIEW change."""

from __future__ import annotations

from .core import Identifier, Name, Node, Option
from .queries import Query
from .statements import Distribution, PartitionValue, PrimaryKey, Statement, TableColumn, UniqueKey, Watermark


class TableChange(Node):
    """What one ALTER TABLE does."""


class SetOptions(TableChange):
    """``SET ('key' = 'value', …)``."""

    options: tuple[Option, ...]


class ResetOptions(TableChange):
    """``RESET ('key', …)``."""

    keys: tuple[str, ...]


class RenameTable(TableChange):
    """``RENAME TO name``."""

    name: Name


class RenameColumn(TableChange):
    """``RENAME column TO name``."""

    column: Identifier
    name: Identifier


class PlacedColumn(Node):
    """``column [FIRST | AFTER other]``."""

    column: TableColumn
    first: bool = False
    after: Identifier | None = None


class ChangeSchema(TableChange):
    """``ADD element | (elements)``; with ``modify``, MODIFY."""

    modify: bool = False
    columns: tuple[PlacedColumn, ...] = ()
    primary_keys: tuple[PrimaryKey, ...] = ()
    unique_keys: tuple[UniqueKey, ...] = ()
    watermarks: tuple[Watermark, ...] = ()


class DropColumns(TableChange):
    """``DROP column | (columns)``."""

    columns: tuple[Identifier, ...]


class DropKey(TableChange):
    """``DROP PRIMARY KEY``, or ``DROP CONSTRAINT name``."""

    name: Identifier | None = None


class DropWatermark(TableChange):
    """``DROP WATERMARK``."""


class ChangeDistribution(TableChange):
    """``ADD`` or, with ``modify``, ``MODIFY DISTRIBUTION BY … INTO n BUCKETS``."""

    modify: bool
    distribution: Distribution


class DropDistribution(TableChange):
    """``DROP DISTRIBUTION``."""


class AddPartitions(TableChange):
    """``ADD [IF NOT EXISTS] PARTITION (column = value, …) [WITH (…)] …``; the options are not kept."""

    partitions: tuple[tuple[PartitionValue, ...], ...]
    if_not_exists: bool = False


class DropPartitions(TableChange):
    """``DROP [IF EXISTS] PARTITION (column = value, …), …``."""

    partitions: tuple[tuple[PartitionValue, ...], ...]
    if_exists: bool = False


class AlterCatalog(Statement):
    """``ALTER CATALOG name SET (…)``, ``RESET ('key', …)`` or ``COMMENT '…'``: one of the three says something."""

    name: Identifier
    options: tuple[Option, ...] | None = None
    reset_keys: tuple[str, ...] | None = None
    comment: str | None = None


class AlterFunction(Statement):
    """``ALTER [TEMPORARY [SYSTEM]] FUNCTION [IF EXISTS] name AS 'class' [LANGUAGE l]``."""

    name: Name
    class_name: str
    language: str | None = None
    temporary: bool = False
    system: bool = False
    if_exists: bool = False


class AlterDatabase(Statement):
    """``ALTER DATABASE name SET ('key' = 'value', …)``."""

    name: Name
    options: tuple[Option, ...]


class AlterTable(Statement):
    """``ALTER TABLE [IF EXISTS] name change``."""

    name: Name
    change: TableChange
    if_exists: bool = False


class AlterView(Statement):
    """``ALTER VIEW name RENAME TO new_name``, or ``AS query``: one of the two says something."""

    name: Name
    rename_to: Name | None = None
    query: Query | None = None
