"""Connectors and formats: what each one is, declared once (:mod:`.bundled`, :mod:`.kafka`, :mod:`.jdbc`,
:mod:`.hybrid`, :mod:`.others`, :mod:`.formats`).

What the planner compiles, what checks refuse, what the executor runs and what the pages list are queries of these
tables.  To add a connector, declare it here and, where it is to be executed, give it a half in
``executor/connectors`` under the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import FlinkplanError
from ..row_kinds import ALL, INSERTS, NAMES, UPSERTS, Kinds, kinds_text
from ..specs import ResolvedTable, RowKind
from .bundled import BUNDLED, DEFAULT_PARTITION
from .formats import FORMATS
from .hybrid import HYBRID
from .jdbc import JDBC
from .kafka import KAFKA
from .kinds import format_name
from .model import FORMAT, KEY_FORMAT, VALUE_FORMAT, Connector, Format, Options, Sink, Source
from .others import OTHERS

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
    connector.name: connector for connector in (*BUNDLED, *KAFKA, JDBC, HYBRID, *OTHERS)
}
"""The connectors by name."""

CHANGELOG = "flinkplan.changelog"
"""The option of a table that says which kinds of changes it emits or takes, such as ``I,UA,D``.

It is meant for connectors that are not known here.  Flink would refuse it, so the plan holds it beside the table.
"""

_KEPT = "changelog"
"""What nodes call it, among what is not Flink's."""

_SHORT = {name: kind for kind, name in NAMES.items()}


def parse_kinds(text: str) -> Kinds:
    """The kinds that a text such as ``I,UB,UA,D`` names.  Raises :class:`FlinkplanError`."""
    names = [name.strip().upper() for name in text.split(",")]
    unknown = [name for name in names if name not in _SHORT]
    kinds = frozenset(_SHORT[name] for name in names if name in _SHORT)
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
    """The kinds of changes that a table emits: as said, as its connector is known to, else inserts."""
    if CHANGELOG in options:
        return parse_kinds(options[CHANGELOG])
    connector = CONNECTORS.get(options.get("connector", ""))
    if connector and connector.parts:
        return INSERTS.union(*(source_kinds(part, keyed) for part in connector.parts(options).values()))
    rule = connector.source.kinds if connector and connector.source else None
    return rule(options, keyed) if rule else INSERTS


def sink_kinds(options: Options, keyed: bool, inserts_only: bool) -> Kinds:
    """The kinds of changes that a table takes; ``inserts_only``: of a query that emits nothing else."""
    if CHANGELOG in options:
        return parse_kinds(options[CHANGELOG])
    sink = _sink(options)
    if sink is None or sink.kinds is None:
        return INSERTS
    kinds = sink.kinds(options, keyed)
    return INSERTS if inserts_only and sink.as_requested else kinds


def wanted_kinds(options: Options, keyed: bool, inserts_only: bool) -> Kinds:
    """The kinds of changes that a table asks for of itself: old rows of updates only if it cannot do without them."""
    kinds, sink = sink_kinds(options, keyed, inserts_only), _sink(options)
    takes_what_comes = sink is not None and sink.as_requested and CHANGELOG not in options
    return kinds - {RowKind.UPDATE_BEFORE} if takes_what_comes else kinds


def _sink(options: Options) -> Sink | None:
    connector = CONNECTORS.get(options.get("connector", ""))
    return connector.sink if connector else None


def deletes_by_key(options: Options, keyed: bool, as_sink: bool) -> bool:
    """Whether deletions hold the key alone, or may: where a table emits or takes upserts, and its connector does so."""
    if CHANGELOG in options or (connector := CONNECTORS.get(options.get("connector", ""))) is None:
        return False
    end = connector.sink if as_sink else connector.source
    upserts = end is not None and end.kinds is not None and end.kinds(options, keyed) == UPSERTS
    return upserts and end is not None and end.deletes_by_key


def is_assumed(options: Options, as_sink: bool) -> bool:
    """Whether nobody has told which kinds of changes the table emits, or takes, so that they are assumed."""
    connector = CONNECTORS.get(options.get("connector", ""))
    if connector and connector.parts and CHANGELOG not in options:
        return any(is_assumed(part, as_sink) for part in connector.parts(options).values())
    end = connector and (connector.sink if as_sink else connector.source)
    return CHANGELOG not in options and (not end or end.kinds is None)


def without_said_kinds(options: Options) -> dict[str, str]:
    """The options as Flink knows them."""
    return {key: value for key, value in options.items() if key != CHANGELOG}


def said_kinds(options: Options) -> dict[str, str]:
    """What a node keeps of the option :data:`CHANGELOG`, for :func:`with_said_kinds`."""
    return {_KEPT: kinds_text(parse_kinds(options[CHANGELOG]))} if CHANGELOG in options else {}


def with_said_kinds(options: Options, own: Mapping[str, object]) -> dict[str, str]:
    """A table's options with the kinds of changes that a scan or sink keeps for it among what is not Flink's."""
    kept = own.get(_KEPT)
    return {**options, CHANGELOG: kept} if isinstance(kept, str) else dict(options)


def default_partition(options: Options) -> str:
    """What stands in the name of a folder for the value of a partition column that is NULL."""
    return options.get(DEFAULT_PARTITION.key, DEFAULT_PARTITION.default or "")


def format_of(options: Options) -> Format | None:
    """The format that a table's options name, where it is known."""
    return FORMATS.get(format_name(options) or "")


def executed(kind: Mapping[str, Connector] | Mapping[str, Format]) -> Iterator[str]:
    """The names of the connectors, or formats, that are executed here."""
    return (name for name, each in kind.items() if each.executed)
