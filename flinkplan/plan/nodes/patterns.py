"""Patterns of rows."""

from __future__ import annotations

from collections.abc import Iterable

from ..savepoint import flink_states
from ..savepoint.layout import Inputs, KeptState, Layout, columns
from ..specs import MatchSpec
from ..yields import Computed, InputColumn, Yield
from .base import ColumnOrder, ExecNode, exec_node
from .mixins import InsertsOnly, WholeRows

_MATCH = "match"


@exec_node(
    "match",
    order=ColumnOrder.FIXED,
    versions={1: "1.15"},
    timed=True,
    transformations=("timestamp-inserter", _MATCH),
    judged=("match_spec",),
)
class Match(InsertsOnly, WholeRows, ExecNode, kw_only=True):
    """MATCH_RECOGNIZE."""

    match_spec: MatchSpec

    @property
    def stateful_transformations(self) -> tuple[str, ...]:
        return (_MATCH,)

    def layout(self, inputs: Inputs) -> Layout | None:
        key, rows = columns(inputs, only=self.match_spec.partition.fields), columns(inputs)
        queue = KeptState(flink_states.PATTERN_QUEUE, rows, "rows by time")
        matched = KeptState(flink_states.PATTERN_EVENTS, rows, "rows of matches that have begun")
        return Layout(
            _MATCH, key, (KeptState(flink_states.PATTERN_MATCHES, form="matches that have begun"), queue, matched)
        )

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.match_spec.partition.fields,)

    def yields(self, inputs: Inputs) -> Iterable[Yield] | None:
        keys, measures = self.match_spec.partition.fields, self.match_spec.measures
        names = [column.name for column in self.fields[len(keys) :]]
        if not all(name in measures for name in names):
            return None
        return (*(InputColumn(0, key) for key in keys), *(Computed(measures[name]) for name in names))
