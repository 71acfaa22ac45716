"""What ALTER TABLE and ALTER VIEW change."""

from __future__ import annotations

from .core import Identifier, Name, Node, Option, node
from .queries import Query
from .statements import PrimaryKey, Statement, TableColumn, UniqueKey, Watermark


@node
class TableChange(Node):
    """What one ALTER TABLE does."""


@node
class SetOptions(TableChange):
    """``SET ('key' = 'value', …)``."""

    options: tuple[Option, ...]


@node
class ResetOptions(TableChange):
    """``RESET ('key', …)``."""

    keys: tuple[str, ...]


@node
class RenameTable(TableChange):
    """``RENAME TO name``."""

    name: Name


@node
class RenameColumn(TableChange):
    """``RENAME column TO name``."""

    column: Identifier
    name: Identifier


@node
class PlacedColumn(Node):
    """``column [FIRST | AFTER other]``."""

    column: TableColumn
    first: bool = False
    after: Identifier | None = None


@node
class ChangeSchema(TableChange):
    """``ADD element | (elements)``; with ``modify``, MODIFY."""

    modify: bool = False
    columns: tuple[PlacedColumn, ...] = ()
    primary_keys: tuple[PrimaryKey, ...] = ()
    unique_keys: tuple[UniqueKey, ...] = ()
    watermarks: tuple[Watermark, ...] = ()


@node
class DropColumns(TableChange):
    """``DROP column | (columns)``."""

    columns: tuple[Identifier, ...]


@node
class DropKey(TableChange):
    """``DROP PRIMARY KEY``, or ``DROP CONSTRAINT name``."""

    name: Identifier | None = None


@node
class DropWatermark(TableChange):
    """``DROP WATERMARK``."""


@node
class AlterTable(Statement):
    """``ALTER TABLE [IF EXISTS] name change``."""

    name: Name
    change: TableChange
    if_exists: bool = False


@node
class AlterView(Statement):
    """``ALTER VIEW name RENAME TO new_name``, or ``AS query``: one of the two says something."""

    name: Name
    rename_to: Name | None = None
    query: Query | None = None
