"""Connectors and formats, each declared once (:mod:`.bundled`, :mod:`.kafka`, :mod:`.jdbc`, :mod:`.hybrid`,
:mod:`.savepoint`, :mod:`.cdc`, :mod:`.others`, :mod:`.formats`).

The planner, the checks, the executor and the documentation use these declarations.  To add a connector, declare it
here; if flinkplan is to execute it, implement it in ``executor/connectors`` under the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import FlinkplanError
from ..row_kinds import ALL, INSERTS, NAMES, UPSERTS, Kinds, kinds_text
from ..specs import ResolvedTable, RowKind
from .bundled import BUNDLED, DEFAULT_PARTITION
from .cdc import MYSQL_CDC, POSTGRES_CDC
from .delta import DELTA
from .formats import FORMATS
from .hybrid import HYBRID
from .iceberg import ICEBERG
from .jdbc import JDBC
from .kafka import KAFKA
from .kinds import format_name
from .model import FORMAT, KEY_FORMAT, VALUE_FORMAT, Connector, Format, Options, Sink, Source
from .others import OTHERS
from .paimon import PAIMON
from .savepoint import SAVEPOINT

__all__ = [
    "ALL",
    "CHANGELOG",
    "CONNECTORS",
    "FORMAT",
    "FORMATS",
    "INSERTS",
    "KEY_FORMAT",
    "UPSERTS",
    "VALUE_FORMAT",
    "Connector",
    "Format",
    "Kinds",
    "Sink",
    "Source",
    "default_partition",
    "deletes_by_key",
    "format_name",
    "format_of",
    "has_key",
    "is_assumed",
    "kinds_text",
    "parse_kinds",
    "said_kinds",
    "sink_kinds",
    "source_kinds",
    "wanted_kinds",
    "with_said_kinds",
    "without_said_kinds",
]

CONNECTORS: Mapping[str, Connector] = {
    connector.name: connector
    for connector in (
        *BUNDLED,
        *KAFKA,
        JDBC,
        HYBRID,
        SAVEPOINT,
        DELTA,
        ICEBERG,
        PAIMON,
        POSTGRES_CDC,
        MYSQL_CDC,
        *OTHERS,
    )
}
"""The connectors by name."""

CHANGELOG = "flinkplan.changelog"
"""The option of a table for the kinds of changes that it emits or accepts, such as ``I,UA,D``.

It is meant for connectors that flinkplan does not know.  Flink would refuse the option, so a plan keeps it outside the
table, as a property of the node.
"""

_PROPERTY = "changelog"
"""The name of that property."""

_BY_SHORT_NAME = {name: kind for kind, name in NAMES.items()}


def parse_kinds(text: str) -> Kinds:
    """Parse a text such as ``I,UB,UA,D``.  Raises :class:`FlinkplanError`."""
    names = [name.strip().upper() for name in text.split(",")]
    unknown = [name for name in names if name not in _BY_SHORT_NAME]
    kinds = frozenset(_BY_SHORT_NAME[name] for name in names if name in _BY_SHORT_NAME)
    if unknown or RowKind.INSERT not in kinds:
        raise FlinkplanError(
            f"'{text}' names no kinds of changes",
            hint="it is I for inserts only, I,UA,D for upserts, I,UB,UA,D for all changes",
        )
    if RowKind.UPDATE_BEFORE in kinds and RowKind.UPDATE_AFTER not in kinds:
        raise FlinkplanError(f"'{text}' has rows before an update and none after it", hint="write I,UB,UA,D or I,UA,D")
    return kinds


def has_key(table: ResolvedTable | None) -> bool:
    """Whether a table has a primary key."""
    return table is not None and table.schema.primary_key is not None


def source_kinds(options: Options, keyed: bool) -> Kinds:
    """The kinds of changes that a table emits: those of :data:`CHANGELOG`, else of its connector, else inserts."""
    if CHANGELOG in options:
        return parse_kinds(options[CHANGELOG])
    connector = CONNECTORS.get(options.get("connector", ""))
    if connector and connector.parts:
        return INSERTS.union(*(source_kinds(part, keyed) for part in connector.parts(options).values()))
    rule = connector.source.kinds if connector and connector.source else None
    return rule(options, keyed) if rule else INSERTS


def sink_kinds(options: Options, keyed: bool, inserts_only: bool) -> Kinds:
    """The kinds of changes that a table accepts; ``inserts_only`` says that the query emits only inserts."""
    if CHANGELOG in options:
        return parse_kinds(options[CHANGELOG])
    sink = _sink(options)
    if sink is None or sink.kinds is None:
        return INSERTS
    kinds = sink.kinds(options, keyed)
    return INSERTS if inserts_only and sink.as_requested else kinds


def required_kinds(options: Options, keyed: bool, inserts_only: bool) -> Kinds:
    """The kinds of changes that a table requires: as :func:`sink_kinds`, without old rows if it does not need them."""
    kinds, sink = sink_kinds(options, keyed, inserts_only), _sink(options)
    is_flexible = sink is not None and sink.as_requested and CHANGELOG not in options
    return kinds - {RowKind.UPDATE_BEFORE} if is_flexible else kinds


def _sink(options: Options) -> Sink | None:
    connector = CONNECTORS.get(options.get("connector", ""))
    return connector.sink if connector else None


def deletes_by_key(options: Options, keyed: bool, as_sink: bool) -> bool:
    """Whether delete rows may contain only the key: the table emits or accepts upserts, and its connector allows it."""
    if CHANGELOG in options or (connector := CONNECTORS.get(options.get("connector", ""))) is None:
        return False
    declared = connector.sink if as_sink else connector.source
    upserts = declared is not None and declared.kinds is not None and declared.kinds(options, keyed) == UPSERTS
    return upserts and declared is not None and declared.deletes_by_key


def kinds_are_assumed(options: Options, as_sink: bool) -> bool:
    """Whether the kinds of changes that the table emits or accepts are not declared, so that they are assumed."""
    connector = CONNECTORS.get(options.get("connector", ""))
    if connector and connector.parts and CHANGELOG not in options:
        return any(kinds_are_assumed(part, as_sink) for part in connector.parts(options).values())
    declared = connector and (connector.sink if as_sink else connector.source)
    return CHANGELOG not in options and (not declared or declared.kinds is None)


def without_declared_kinds(options: Options) -> dict[str, str]:
    """The options without :data:`CHANGELOG`, which Flink does not know."""
    return {key: value for key, value in options.items() if key != CHANGELOG}


def declared_kinds(options: Options) -> dict[str, str]:
    """The property in which a node keeps the option :data:`CHANGELOG`, for :func:`with_declared_kinds`."""
    return {_PROPERTY: kinds_text(parse_kinds(options[CHANGELOG]))} if CHANGELOG in options else {}


def with_declared_kinds(options: Options, own: Mapping[str, object]) -> dict[str, str]:
    """A table's options with :data:`CHANGELOG` as it is kept in the properties of a scan or sink."""
    kinds = own.get(_PROPERTY)
    return {**options, CHANGELOG: kinds} if isinstance(kinds, str) else dict(options)


def default_partition(options: Options) -> str:
    """The value of a partition column in the name of a folder if the column is NULL."""
    return options.get(DEFAULT_PARTITION.key, DEFAULT_PARTITION.default or "")


def format_of(options: Options) -> Format | None:
    """The format in a table's options; ``None`` if there is none or it is not known."""
    return FORMATS.get(format_name(options) or "")


def executed(kind: Mapping[str, Connector] | Mapping[str, Format]) -> Iterator[str]:
    """The names of the connectors or formats that flinkplan executes."""
    return (name for name, declared in kind.items() if declared.executed)
