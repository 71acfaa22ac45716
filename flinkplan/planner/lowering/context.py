"""What the lowering of an operator needs: the options, and the parts that all nodes share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...plan.durations import format_duration, parse_duration, parse_iso_duration
from ...plan.nodes.base import ExecNode
from ...plan.record import Record
from ...plan.settings import LOCAL_TIME_ZONE, STATE_TTL, defaults, value_of
from ...plan.settings_of_flink import Effect
from ...plan.specs import PIPELINED_INPUT, SortField, StateMetadata
from ...plan.ttl import state_names
from ..algebra.names import uniquify
from ..algebra.rel import Rel

DEFAULTS = {**defaults(Effect.COMPILING, Effect.BOTH), LOCAL_TIME_ZONE: "UTC"}
"""The values of the consumed options where the session sets none."""

ENUMS = frozenset(key for key in DEFAULTS if key.startswith("table.exec.sink."))
"""Options that Flink writes in upper case."""


class Context(Record):
    """The state of a lowering: the session's options.

    ``complete``: the plan holds the definition of every table, whatever the session leaves to the catalog.
    """

    config: Mapping[str, str]
    complete: bool = False

    def retracts(self, rel: Rel) -> bool:
        """Whether a relation emits updates or deletions."""
        return not rel.changes.are_insertions

    def node(self, cls: type[ExecNode], rel: Rel, *parts: str, **fields: Any) -> ExecNode:
        """A node of a class with what all nodes have, described by its parts; its id is given later."""
        options = {key: self.option(key) for key in sorted(cls.metadata.consumed_options)}
        return cls(
            id=0,
            version=cls.metadata.versions[-1],
            configuration=options or None,
            input_properties=(PIPELINED_INPUT,) * len(rel.inputs) or None,
            output_type=rel.row_type.nullable_(),
            description=f"{cls.__name__}({', '.join(parts)})" if parts else cls.__name__,
            **fields,
        )

    def option(self, key: str) -> str:
        """A consumed option's value as the plan fixes it."""
        value = self.config.get(key, DEFAULTS.get(key, ""))
        return value.upper() if key in ENUMS else value

    def states(
        self, cls: type[ExecNode], ttls: Sequence[int | None] = (), inputs: int = 1
    ) -> tuple[StateMetadata, ...]:
        """The states of a node with so many inputs: by a hint's TTL where there is one, else the job's."""
        names = state_names(cls, inputs)
        chosen = [*ttls, *(None for _ in names)][: len(names)]
        return self.states_of(list(zip(names, chosen, strict=True)))

    def states_of(self, states: Sequence[tuple[str, int | None]]) -> tuple[StateMetadata, ...]:
        """States by their names and TTLs in milliseconds, the job's where there is ``None``."""
        default = parse_duration(value_of(self.config, STATE_TTL))
        return tuple(
            StateMetadata(i, format_duration(default if ttl is None else ttl), name)
            for i, (name, ttl) in enumerate(states)
        )


Rules = Mapping[type[Rel], Callable[[Any, Context], ExecNode]]
"""The lowering function of each operator."""

Parts = Iterable[str]
"""What stands in the brackets behind an operator's name, each as ``key=[value]``."""

Texts = Mapping[type[Rel], Callable[[Any], Parts]]
"""The function of each operator that gives its parts in ``explain --rules``, also before its changes are inferred."""


def no_parts(rel: Rel) -> Parts:
    """The parts of an operator that has nothing to say."""
    return ()


def input_fields(rel: Rel) -> tuple[str, ...]:
    """The names of the columns that expressions of a relation read."""
    return uniquify([name for each in rel.inputs for name in each.names])


def columns(rel: Rel, indexes: Sequence[int]) -> str:
    """Column names, separated by commas."""
    return ", ".join(rel.names[i] for i in indexes)


def group_by(rel: Rel, grouping: Sequence[int], phase: str | None = None) -> list[str]:
    """``groupBy=[a, b]``, where there are groups, and of which part of a split aggregation."""
    parts = [f"groupBy=[{columns(rel, grouping)}]"] if grouping else []
    return parts + ([f"partialFinalType=[{phase}]"] if phase else [])


def duration_text(iso: str) -> str:
    """``10 min`` of ``PT10M``."""
    return format_duration(parse_iso_duration(iso))


def order_text(rel: Rel, order: Sequence[SortField]) -> str:
    """``price DESC, id ASC``."""
    return ", ".join(f"{rel.names[f.index]} {'ASC' if f.is_ascending else 'DESC'}" for f in order)
