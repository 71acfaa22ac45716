"""Statements."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from ..source import Source
from .core import DataType, Hint, Identifier, Name, Node, Option
from .expressions import Expression
from .queries import Query


class Statement(Node):
    """Something that ends with a semicolon."""


class Script(Node):
    """The statements of a text, in order."""

    statements: tuple[Statement, ...]
    source: Source

    apart: ClassVar[frozenset[str]] = frozenset({"span", "source"})


class PhysicalColumn(Node):
    """``name type [COMMENT '…']``; the type's ``nullable`` says NOT NULL."""

    name: Identifier
    type: DataType
    comment: str | None = None


class ComputedColumn(Node):
    """``name AS expression [COMMENT '…']``."""

    name: Identifier
    expression: Expression
    comment: str | None = None


class MetadataColumn(Node):
    """``name type METADATA [FROM 'key'] [VIRTUAL] [COMMENT '…']``."""

    name: Identifier
    type: DataType
    key: str | None = None
    virtual: bool = False
    comment: str | None = None


TableColumn: TypeAlias = PhysicalColumn | ComputedColumn | MetadataColumn


class PrimaryKey(Node):
    """``[CONSTRAINT name] PRIMARY KEY (columns) [NOT] ENFORCED``; Flink refuses an enforced one."""

    columns: tuple[Identifier, ...]
    name: Identifier | None = None
    enforced: bool = False


class UniqueKey(Node):
    """``[CONSTRAINT name] UNIQUE (columns)``, which Flink refuses."""

    columns: tuple[Identifier, ...]
    name: Identifier | None = None


class Watermark(Node):
    """``WATERMARK FOR column AS expression``; the column may be a nested field ``a.b``."""

    column: tuple[Identifier, ...]
    expression: Expression


class Distribution(Node):
    """``DISTRIBUTED [BY [HASH|RANGE] (columns)] [INTO n BUCKETS]``."""

    columns: tuple[Identifier, ...] = ()
    kind: str | None = None
    buckets: int | None = None


class LikeOption(Node):
    """``merging`` is INCLUDING, EXCLUDING or OVERWRITING, ``feature`` ALL, CONSTRAINTS, OPTIONS …"""

    merging: str
    feature: str


class TableLike(Node):
    """``LIKE table (options)`` of a CREATE TABLE."""

    table: Name
    options: tuple[LikeOption, ...] = ()


class CreateTable(Statement):
    """``CREATE TABLE``, with LIKE or AS query where given.

    ``columns`` in order; ``column_names`` is the bare list that CREATE TABLE … AS allows instead.
    Key constraints stand in ``primary_keys`` and ``unique_keys``, whether written at a column or at the
    table; more than one is for the binder to refuse, and so is a second watermark.
    """

    name: Name
    columns: tuple[TableColumn, ...] = ()
    column_names: tuple[Identifier, ...] = ()
    primary_keys: tuple[PrimaryKey, ...] = ()
    unique_keys: tuple[UniqueKey, ...] = ()
    watermarks: tuple[Watermark, ...] = ()
    comment: str | None = None
    distribution: Distribution | None = None
    partitioned_by: tuple[Identifier, ...] = ()
    options: tuple[Option, ...] = ()
    like: TableLike | None = None
    query: Query | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False


class CreateView(Statement):
    """``CREATE [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] [COMMENT '…'] AS query``."""

    name: Name
    query: Query
    columns: tuple[Identifier, ...] = ()
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False


class CreateFunction(Statement):
    """``CREATE [TEMPORARY [SYSTEM]] FUNCTION name AS 'class' [LANGUAGE l] [USING JAR '…', …] [WITH (…)]``."""

    name: Name
    class_name: str
    language: str | None = None
    jars: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False


class CreateCatalog(Statement):
    """``CREATE CATALOG [IF NOT EXISTS] name [COMMENT '…'] [WITH (…)]``."""

    name: Identifier
    comment: str | None = None
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False


class CreateDatabase(Statement):
    """``CREATE DATABASE [IF NOT EXISTS] name [COMMENT '…'] [WITH (…)]``."""

    name: Name
    comment: str | None = None
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False


class UseCatalog(Statement):
    """``USE CATALOG name``."""

    name: Identifier


class UseDatabase(Statement):
    """``USE [catalog.]database``."""

    name: Name


class LoadModule(Statement):
    """``LOAD MODULE name [WITH (…)]``."""

    name: Identifier
    options: tuple[Option, ...] = ()


class UnloadModule(Statement):
    """``UNLOAD MODULE name``."""

    name: Identifier


class UseModules(Statement):
    """``USE MODULES name, …``: these are used, in this order."""

    names: tuple[Identifier, ...]


class Drop(Statement):
    """``DROP [TEMPORARY [SYSTEM]] kind [IF EXISTS] name``: a TABLE, VIEW, FUNCTION, CATALOG or DATABASE."""

    kind: str
    name: Name
    if_exists: bool = False
    temporary: bool = False
    system: bool = False
    cascade: bool = False


class SetOption(Statement):
    """``SET 'key' = 'value'``; ``SET`` alone has neither."""

    key: str | None = None
    value: str | None = None


class ResetOption(Statement):
    """``RESET 'key'``; ``RESET`` alone resets everything."""

    key: str | None = None


class PartitionValue(Node):
    """``column [= value]`` in a PARTITION clause."""

    column: Identifier
    value: Expression | None = None


class Insert(Statement):
    """``INSERT INTO|OVERWRITE table [/*+ hints */] [PARTITION (…)] [(columns)] query [ON CONFLICT DO …]``.

    ``columns`` may hold nested fields. ``on_conflict`` is NOTHING, DEDUPLICATE, ERROR, or None when not said.
    ``of_new_table``: it fills the table of a CREATE TABLE … AS.
    """

    table: Name
    query: Query
    columns: tuple[Name, ...] = ()
    partition: tuple[PartitionValue, ...] = ()
    overwrite: bool = False
    hints: tuple[Hint, ...] = ()
    on_conflict: str | None = None
    of_new_table: bool = False


class StatementSet(Statement):
    """``[EXECUTE] STATEMENT SET BEGIN … END``."""

    inserts: tuple[Insert, ...]
    execute: bool = False


class BeginStatementSet(Statement):
    """``BEGIN STATEMENT SET`` by itself; the INSERTs and ``END`` follow as statements of their own."""


class EndStatementSet(Statement):
    """``END`` by itself, of a statement set whose parts are sent one by one."""


class CompilePlan(Statement):
    """``COMPILE PLAN 'path' [IF NOT EXISTS] FOR statement``; with ``execute``, COMPILE AND EXECUTE PLAN."""

    path: str
    statement: Insert | StatementSet
    if_not_exists: bool = False
    execute: bool = False


class ExecutePlan(Statement):
    """``EXECUTE PLAN 'path'``."""

    path: str
    if_exists: bool = False


class Explain(Statement):
    """``EXPLAIN [PLAN FOR | details] statement``; details such as CHANGELOG_MODE, upper case."""

    statement: Statement
    details: tuple[str, ...] = ()


class Show(Statement):
    """``SHOW what [name]``; ``what`` upper case, such as TABLES or CREATE TABLE; ``pattern`` of LIKE or ILIKE.

    ``partition`` are the values of SHOW PARTITIONS t PARTITION (…).
    """

    what: str
    name: Name | None = None
    pattern: str | None = None
    negated: bool = False
    ignores_case: bool = False
    partition: tuple[PartitionValue, ...] = ()


class Describe(Statement):
    """``DESCRIBE [EXTENDED] name``; ``kind`` is TABLE, or what was said: CATALOG, DATABASE, FUNCTION, JOB …"""

    name: Name
    kind: str = "TABLE"
    extended: bool = False


class QueryStatement(Statement):
    """A query by itself."""

    query: Query


class AddJar(Statement):
    """``ADD JAR 'path'``, or REMOVE JAR."""

    path: str
    remove: bool = False


class StopJob(Statement):
    """``STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]``."""

    job: str
    with_savepoint: bool = False
    with_drain: bool = False
