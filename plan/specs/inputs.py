"""What a node keeps and what it requires of its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..codec import plan_field, unknown_fields
from ..durations import parse_duration


@dataclass(frozen=True, slots=True)
class StateMetadata:
    """One state of a stateful node; ``ttl`` is kept as written, :attr:`ttl_ms` is its meaning."""

    index: int
    ttl: Any
    name: str
    unknown: Mapping[str, Any] = unknown_fields()

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


@dataclass(frozen=True, slots=True)
class Distribution:
    """A required distribution; ``keys`` are input columns and only set for HASH."""

    type: DistributionType
    keys: tuple[int, ...] | None = None
    input_distribution: Any = None
    is_strict: bool | None = None


@dataclass(frozen=True, slots=True)
class InputProperty:
    """What a node requires of one of its inputs."""

    required_distribution: Distribution
    dam_behavior: str = plan_field()
    priority: int = plan_field()


PIPELINED_INPUT = InputProperty(Distribution(DistributionType.UNKNOWN), "PIPELINED", 0)


@dataclass(frozen=True, slots=True)
class MiniBatchInterval:
    """``interval`` milliseconds between flushes; ``mode`` is ProcTime, RowTime or None."""

    interval: int
    mode: str


@dataclass(frozen=True, slots=True)
class ConflictStrategy:
    """What a sink does with rows of one primary key that come from different upsert keys."""

    behavior: str
