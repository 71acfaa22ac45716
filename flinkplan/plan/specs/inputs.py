"""The states of a node, and its requirements on its inputs."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Annotated, Any

from ..codec import PlanRecord, Unknown
from ..durations import parse_duration
from ..record import Json, field
from ..references import Input, Number


class StateMetadata(PlanRecord):
    """One state of a stateful node; ``ttl`` keeps the text of the plan, :attr:`ttl_ms` is its value."""

    index: Number
    ttl: Any
    name: str
    unknown: Unknown = field(default_factory=Json)

    @property
    def ttl_ms(self) -> int:
        """After how many milliseconds without a write an entry expires; 0 means never."""
        return parse_duration(self.ttl)


class RowKind(Enum):
    """The kind of a row in a changelog, in Flink's order."""

    INSERT = "INSERT"
    UPDATE_BEFORE = "UPDATE_BEFORE"
    UPDATE_AFTER = "UPDATE_AFTER"
    DELETE = "DELETE"


class ReceivedKind(Enum):
    """A kind of rows that a node receives, as the plan lists them.

    Source: Flink's ``ChangelogModeJsonSerializer``.
    """

    INSERT = "INSERT"
    UPDATE_BEFORE = "UPDATE_BEFORE"
    UPDATE_AFTER = "UPDATE_AFTER"
    DELETE = "DELETE"
    DELETE_BY_KEY = "~DELETE"
    """Of deleted rows the key alone is sure to be set."""

    @property
    def row_kind(self) -> RowKind:
        """The kind that the rows have."""
        return RowKind(self.value.removeprefix("~"))

    @classmethod
    def of(cls, kinds: Iterable[RowKind]) -> tuple[ReceivedKind, ...]:
        """Kinds whose rows are complete."""
        return tuple(cls(kind.value) for kind in kinds)


class DistributionType(Enum):
    """How rows must be distributed over the parallel instances of the operator."""

    ANY = "ANY"
    SINGLETON = "SINGLETON"
    BROADCAST = "BROADCAST"
    HASH = "HASH"
    UNKNOWN = "UNKNOWN"
    KEEP_INPUT_AS_IS = "KEEP_INPUT_AS_IS"


class Distribution(PlanRecord):
    """A required distribution; ``keys`` are input columns, and are set for HASH only."""

    type: DistributionType
    keys: Annotated[tuple[int, ...] | None, Input.ALL] = None
    input_distribution: Any = None
    is_strict: bool | None = None


class InputProperty(PlanRecord):
    """The requirements of a node on one of its inputs."""

    required_distribution: Distribution
    dam_behavior: str
    priority: Number


PIPELINED_INPUT = InputProperty(Distribution(DistributionType.UNKNOWN), "PIPELINED", 0)


class MiniBatchInterval(PlanRecord):
    """The interval of mini-batches in milliseconds; ``mode`` is ProcTime, RowTime or None."""

    interval: Number
    mode: str


class ConflictStrategy(PlanRecord):
    """What a sink does with rows of the same primary key and different upsert keys."""

    behavior: str
