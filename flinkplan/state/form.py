"""The neutral form of a job's state: a manifest that describes tables, and the tables' rows as Arrow batches.

A job has operators, an operator has states, and each state is one table.  A table has these columns, in this order;
those that its kind does not need are left out:

=============  =======================  ==============================================================================
``subtask``    ``int32``                which subtask kept the entry; of operator and coordinator states
``key``        struct                   the key, one field for each of :attr:`StateTable.key`
``namespace``  struct                   the window that the entry belongs to
``map_key``    struct, may be NULL      the key within a map
``position``   ``int64``                the position in a list, from 0
``value``      struct                   the value; a value that is no row is a struct with one field, ``value``
``accessed``   ``timestamp[ms, UTC]``   when the entry was last written (or read); of states with a TTL in Flink
``expires``    ``timestamp[ms, UTC]``   when the entry expires; of states with a TTL in Spark
=============  =======================  ==============================================================================

A VALUE state has one row for each key and namespace, a MAP state one for each key within the map, a LIST state one for
each element.  What a value holds besides (lists, rows, maps) is nested.  A row in a value or map key has as its last
field ``$kind``, its row kind (0 = +I, 1 = -U, 2 = +U, 3 = -D).

Types are Flink's, as SQL writes them; :mod:`.form_arrow` says what they are in Arrow.  What could not be decoded is
carried as bytes: its column has the type ``VARBINARY(2147483647)`` and names its ``serializer``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..plan.errors import FlinkplanError
from ..plan.record import Json, Record, field

if TYPE_CHECKING:
    from pyarrow import RecordBatch

VERSION = 1
"""The version of the form."""

ROW_KIND = "$kind"
"""The field of a row that holds its row kind."""

VALUE = "value"
"""The field of a value, or map key, that is no row."""


class StateError(FlinkplanError):
    """State that cannot be read, written or carried over (exit code 3)."""

    exit_code = 3


class Kind(Enum):
    """What a state is to its operator."""

    VALUE = "value"
    """One value for each key and namespace."""
    LIST = "list"
    """A list for each key and namespace."""
    MAP = "map"
    """A map for each key and namespace."""
    TIMERS = "timers"
    """Registered timers: the value is a ``timestamp`` in milliseconds since the epoch."""
    OPERATOR_LIST = "operator list"
    """A list for each subtask, whose elements are divided among the subtasks on restore."""
    OPERATOR_UNION = "operator union"
    """A list for each subtask, which each subtask gets whole on restore."""
    BROADCAST = "broadcast"
    """A map that is the same in each subtask."""
    COORDINATOR = "coordinator"
    """What the coordinator of an operator keeps, such as the enumerator of a source: bytes."""

    HANDLE = "handle"
    """All keyed states of a subtask as the engine wrote them: bytes, since one of their serializers is not known."""

    @property
    def is_keyed(self) -> bool:
        """Whether entries belong to keys rather than to subtasks."""
        return self in (Kind.VALUE, Kind.LIST, Kind.MAP, Kind.TIMERS)


class Origin(Record, rename="camel", omit_defaults=True):
    """Where a value comes from, by the plan: a column of an input, or a part of an aggregate call's accumulator.

    ``input`` is the number of the input, ``column`` the name of its column; ``call`` is the number of the aggregate
    call, ``part`` the number of the value within its accumulator.
    """

    input: int | None = None
    column: str | None = None
    call: int | None = None
    part: int | None = None


class Column(Record, rename="camel", omit_defaults=True):
    """A field of a key, namespace, map key or value.

    ``type`` is Flink's logical type as SQL writes it.  ``serializer`` is given where the value could not be decoded:
    the column then holds the bytes that this serializer wrote.
    """

    name: str
    type: str
    origin: Origin | None = None
    serializer: str = ""


class StateTable(Record, rename="camel", omit_defaults=True):
    """A state of an operator, as a table.

    ``table`` is the table's number, unique within the job.  ``name`` is the state's name as the engine has it, such as
    ``left-records``.  ``clock`` is that of timers, ``event`` or ``processing``; ``namespace_kind`` is empty,
    ``window end`` or ``window``, for states kept by windows.  ``time`` names the column of the state's TTL,
    ``accessed`` or ``expires``, if any.  ``entries`` is the number of rows, where it is known.  ``written_by`` is how
    the engine wrote the state: what its own end of this form needs to write it again.
    """

    table: int
    name: str
    kind: Kind
    key: tuple[Column, ...] = ()
    namespace: tuple[Column, ...] = ()
    namespace_kind: str = ""
    map_key: tuple[Column, ...] = ()
    value: tuple[Column, ...] = ()
    clock: str = ""
    time: str = ""
    entries: int | None = None
    written_by: Mapping[str, Any] = field(default_factory=Json)

    @property
    def opaque(self) -> tuple[Column, ...]:
        """The columns that hold bytes which could not be decoded."""
        return tuple(c for c in (*self.key, *self.namespace, *self.map_key, *self.value) if c.serializer)


class Split(Record, rename="camel", omit_defaults=True):
    """How far a part of a source has been read.

    ``name`` is the path of a file or a topic of Kafka, ``partition`` that of the topic.  ``offset`` is where to go on:
    the next offset of Kafka (-2: the earliest one, -1: the latest one, -3: that of the consumer group), or the byte in
    the file, behind which ``records_after_offset`` records have been read as well.  ``end`` is the byte at which the
    part of the file ends, or the offset before which reading the partition ends.  ``is_done``: nothing is left to read.
    """

    name: str
    partition: int | None = None
    offset: int | None = None
    end: int | None = None
    records_after_offset: int = 0
    is_done: bool = False


class SourcePosition(Record, rename="camel", omit_defaults=True):
    """How far a source has been read, by the UID of its operator (else its hash) or the id of its node.

    ``connector`` is ``filesystem`` or ``kafka``.

    ``is_known`` is false where the positions could not be decoded; they are then in the tables of the operator alone.
    """

    uid: str | None = None
    node: int | None = None
    connector: str = ""
    splits: tuple[Split, ...] = ()
    is_known: bool = True


class OperatorState(Record, rename="camel", omit_defaults=True):
    """An operator and its states.

    ``node`` is the id of its exec node and ``name`` the node's name (``join#2``), where the plan is known; ``uid`` is
    Flink's UID (``8_join``) and ``hash`` the operator id in hexadecimal that follows from it.  ``watermark`` is the
    operator's own in milliseconds, where the engine keeps one.  ``is_finished``: all of its input has ended, so that it
    keeps nothing any more.  ``written_by`` is what else the engine's own end of this form needs.
    """

    states: tuple[StateTable, ...]
    node: int | None = None
    name: str | None = None
    uid: str | None = None
    hash: str | None = None
    parallelism: int | None = None
    max_parallelism: int | None = None
    watermark: int | None = None
    is_finished: bool = False
    written_by: Mapping[str, Any] = field(default_factory=Json)


class Manifest(Record, rename="camel", omit_defaults=True):
    """What the state of a job consists of.

    ``engine`` is ``flink`` or ``spark``; ``engine_version`` the version of the engine's own format, such as that of a
    savepoint's metadata.  ``checkpoint`` is the number of the checkpoint or batch.  ``has_plan`` says that the plan is
    at hand.  ``watermarks`` are those of event time by the name of a source or sink, in milliseconds since the epoch.
    ``remarks`` are sentences for people about what is missing.
    """

    engine: str
    operators: tuple[OperatorState, ...]
    version: int = VERSION
    engine_version: str = ""
    checkpoint: int | None = None
    has_plan: bool = False
    positions: tuple[SourcePosition, ...] = ()
    watermarks: Mapping[str, int] = field(default_factory=Json)
    remarks: tuple[str, ...] = ()
    written_by: Mapping[str, Any] = field(default_factory=Json)

    def tables(self) -> Iterator[tuple[OperatorState, StateTable]]:
        """All states with their operators."""
        return ((operator, table) for operator in self.operators for table in operator.states)


class JobState(ABC):
    """The state of a job: what it consists of, and the rows of its tables, which may be asked for again and again."""

    @property
    @abstractmethod
    def manifest(self) -> Manifest:
        """What the state consists of."""

    @property
    def plan_text(self) -> str | None:
        """The compiled plan of the job; ``None`` where it is not known."""
        return None

    @abstractmethod
    def batches(self, table: StateTable) -> Iterator[RecordBatch]:
        """The rows of a table, in the schema of :func:`.form_arrow.table_schema`; not all in memory at once.

        Raises :class:`StateError` where they cannot be read.
        """
