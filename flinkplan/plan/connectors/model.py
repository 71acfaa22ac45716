"""The declarations of connectors and formats, for the planner, the checks, the executor and the documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ..options import Option
from ..record import Record, field
from ..rex import RexNode
from ..row_kinds import INSERTS, Kinds
from ..specs import ResolvedSchema
from ..types import LogicalType

Options: TypeAlias = Mapping[str, str]


FORMAT, VALUE_FORMAT, KEY_FORMAT = MESSAGE_FORMATS = ("format", "value.format", "key.format")
"""The options with the format of messages, or of their values and keys."""


class Problem(Record):
    """A problem with an option: the option's key, a message, and how to fix it."""

    key: str
    message: str
    hint: str | None = None


class Format(Record):
    """A format of messages or files.

    ``options`` have keys without the format's prefix; ``None`` if they are not known, for formats of other jars.
    ``kinds`` are the kinds of changes that messages can express.  With ``journal`` every change is a message, so that
    none may be compacted away.  With ``columnar`` Spark's own reader and writer of whole files are used.  With
    ``framed`` messages are binary and cannot be lines of a file.  ``needs`` are options that a table must have, each by
    one of its names; ``secrets`` those that a plan must not contain in plain text, and ``servers`` those that
    name where these are sent.
    """

    name: str
    meaning: str
    options: tuple[Option, ...] | None = None
    kinds: Kinds = INSERTS
    journal: bool = False
    columnar: bool = False
    framed: bool = False
    executed: bool = False
    needs: tuple[tuple[str, ...], ...] = ()
    secrets: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()

    @property
    def is_changelog(self) -> bool:
        """Whether messages state their kind of change."""
        return self.kinds != INSERTS


KindsRule: TypeAlias = Callable[[Options, bool], Kinds]
"""Computes the kinds of changes from the table's options and whether it has a primary key."""


AppliesRule: TypeAlias = Callable[[Options, RexNode], bool]
"""Whether a source with these options applies a predicate."""


class Source(Record):
    """The kinds of changes that a table emits, and what can be pushed into it.

    ``kinds`` is ``None`` if they are not known; the table is then assumed to be insert-only.
    """

    kinds: KindsRule | None
    projection: bool = False
    filters: bool | AppliesRule = False
    """Whether it accepts filters without guarantee, or a rule for the filters that it applies to all rows."""
    limit: bool = False
    partitions: bool = False
    bounded: bool | None = None
    """Whether reading ends; ``None`` if that depends on its options."""
    deletes_by_key: bool = False
    """Whether the delete rows of its upserts contain only the key."""
    lookups: bool = False
    """Whether it supports lookups by key."""


class Sink(Record):
    """The kinds of changes that a table accepts; ``kinds`` is ``None`` if they are not known.

    ``as_requested`` says that it requires only those of them that the query emits, so that an insert-only query needs
    no primary key.
    """

    kinds: KindsRule | None
    as_requested: bool = False
    deletes_by_key: bool = False
    """Whether the key is enough to delete a row."""
    overwrites: bool = False
    """Whether INSERT OVERWRITE replaces what is in the table."""


ProblemsRule: TypeAlias = Callable[[Options, ResolvedSchema, bool], Iterator[Problem]]
"""Finds problems in the combination of a table's options, given its schema and whether it is written to."""


PartsRule: TypeAlias = Callable[[Options], Mapping[str, Options]]
"""The options of the tables that a table consists of, by name; in the table's options they have the prefix ``name.``.
"""


class Connector(Record):
    """A connector.

    ``options`` are all options that a table may have; ``None`` if they are not known, for connectors of other jars.
    ``formats`` are the options that name a format.  ``metadata`` are the types of its metadata columns by key;
    ``has_metadata`` says that there are metadata columns even if they are not listed.  ``problems`` checks combinations
    of options.  ``secrets`` are the options that a plan must not contain in plain text.  ``parts`` are the tables that
    a table consists of, whose changes it emits.
    """

    name: str
    meaning: str
    source: Source | None = None
    sink: Sink | None = None
    options: tuple[Option, ...] | None = None
    formats: tuple[str, ...] = ()
    metadata: Mapping[str, LogicalType] = field(default_factory=dict)
    has_metadata: bool = False
    problems: ProblemsRule | None = None
    secrets: tuple[str, ...] = ()
    parts: PartsRule | None = None
    executed: bool = False


def always(kinds: Kinds) -> KindsRule:
    """A rule that gives the same kinds for all options."""
    return lambda options, keyed: kinds
