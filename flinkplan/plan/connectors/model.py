"""What is known of a connector or a format: declared once, for the planner, the checks, the executor and the docs."""

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
"""The options that name the formats of messages: of their values, and of their keys."""


class Problem(Record):
    """What is wrong: the option that it is about, in words, and how to mend it."""

    key: str
    message: str
    hint: str | None = None


class Format(Record):
    """A format of messages or files.

    ``options`` are keyed without the format's name in front; ``None``: they are the business of another jar.
    ``kinds`` are those of the changes that its messages tell.  ``journal``: who reads the messages wants each change,
    not only what they come to, so that none may be left out.  ``columnar``: Spark's own reader and writer of whole
    files are used.  ``framed``: messages are binary, and do not stand in the lines of a file.
    """

    name: str
    meaning: str
    options: tuple[Option, ...] | None = None
    kinds: Kinds = INSERTS
    journal: bool = False
    columnar: bool = False
    framed: bool = False
    executed: bool = False

    @property
    def is_changelog(self) -> bool:
        """Whether messages say what kind of change they are."""
        return self.kinds != INSERTS


KindsRule: TypeAlias = Callable[[Options, bool], Kinds]
"""The kinds of changes by the table's options and by whether it has a primary key."""


AppliesRule: TypeAlias = Callable[[Options, RexNode], bool]
"""Whether a source of these options applies a predicate."""


class Source(Record):
    """What reading a table yields, and what can be pushed into it.

    ``kinds`` are the changes that it emits; ``None``: nobody has told, and it is taken for insert-only.
    """

    kinds: KindsRule | None
    projection: bool = False
    filters: bool | AppliesRule = False
    """Whether it takes filters as a hint; or which it applies to all rows, so that nobody else has to."""
    limit: bool = False
    partitions: bool = False
    bounded: bool | None = None
    """Whether reading it ends; ``None``: its options decide."""
    deletes_by_key: bool = False
    """Whether the rows of deletions among its upserts hold the key alone."""
    lookups: bool = False
    """Whether it can be asked for the rows of a key."""


class Sink(Record):
    """What a table takes.

    ``kinds`` are the changes that it takes; ``None``: nobody has told.  ``as_requested``: of these it asks for what
    the query emits, so that it needs no key of one that only inserts.
    """

    kinds: KindsRule | None
    as_requested: bool = False
    deletes_by_key: bool = False
    """Whether the key of a row suffices to delete it."""


ProblemsRule: TypeAlias = Callable[[Options, ResolvedSchema, bool], Iterator[Problem]]
"""What is wrong with the options of a table, taken together, of this schema, and whether it is written to."""


PartsRule: TypeAlias = Callable[[Options], Mapping[str, Options]]
"""The options of the tables that one is made of, by their names; the options of each begin with its name and a dot."""


class Connector(Record):
    """A connector.

    ``options`` are all that a table may have; ``None``: they are the business of another jar.  ``formats`` are the
    options that name the formats of what it reads and writes.  ``metadata`` are the types of its metadata columns by
    key, ``has_metadata`` says that there are some even where they are not listed.  ``problems`` finds what no single
    option tells.  ``secrets`` are the options that no plan may hold in plain text.  ``parts`` are the tables that it is
    made of, whose changes are then its own.
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
    """The same kinds whatever the options."""
    return lambda options, keyed: kinds
