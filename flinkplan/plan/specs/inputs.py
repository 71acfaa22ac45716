"""What a node keeps and what it requires of its inputs."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

from ..codec import PlanRecord, Unknown
from ..durations import parse_duration
from ..record import Json, field
from ..references import Input, Number


class StateMetadata(PlanRecord):
    """One state of a stateful node; ``ttl`` is kept as written, :attr:`ttl_ms` is its meaning."""

    index: Number
    ttl: Any
    name: str
    unknown: Unknown = field(default_factory=Json)

    @property
    def ttl_ms(self) -> int:
        """Milliseconds after the last write at which an entry expires; 0 = never."""
        return parse_duration(self.ttl)


class RowKind(Enum):
    """What a row of a changelog says, in Flink's order."""

    INSERT = "INSERT"
    UPDATE_BEFORE = "UPDATE_BEFORE"
    UPDATE_AFTER = "UPDATE_AFTER"
    DELETE = "DELETE"


class DistributionType(Enum):
    """How rows must be spread over the instances of the operator."""

    ANY = "ANY"
    SINGLETON = "SINGLETON"
    BROADCAST = "BROADCAST"
    HASH = "HASH"
    UNKNOWN = "UNKNOWN"
    KEEP_INPUT_AS_IS = "KEEP_INPUT_AS_IS"


class Distribution(PlanRecord):
    """A required distribution; ``keys`` are input columns and only set for HASH."""

    type: DistributionType
    keys: Annotated[tuple[int, ...] | None, Input.ALL] = None
    input_distribution: Any = None
    is_strict: bool | None = None


class InputProperty(PlanRecord):
    """What a node requires of one of its inputs."""

    required_distribution: Distribution
    dam_behavior: str
    priority: Number


PIPELINED_INPUT = InputProperty(Distribution(DistributionType.UNKNOWN), "PIPELINED", 0)


class MiniBatchInterval(PlanRecord):
    """``interval`` milliseconds between flushes; ``mode`` is ProcTime, RowTime or None."""

    interval: Number
    mode: str


class ConflictStrategy(PlanRecord):
    """What a sink does with rows of one primary key that come from different upsert keys."""

    behavior: str
