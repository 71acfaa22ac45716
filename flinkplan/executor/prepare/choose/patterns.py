"""MATCH_RECOGNIZE.

Source of the rules: Flink's ``StreamExecMatch`` and ``CepOperator``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.changelog import row_kinds
from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import Match
from ....plan.row_kinds import INSERTS
from ....plan.types import TIMESTAMPS, LogicalType
from ..known.match_values import check_column, check_expressions
from ..known.patterns import skip_of, variables_of, within_ms
from ..query import QueryPlan, chooser
from ..steps import TIMER, Kernel, StateLayout, until_watermark


class KernelMatch(Kernel, kw_only=True):
    """The search for a pattern; ``by_clock``: in the order of processing time, else of event time."""

    by_clock: bool


def _check(node: Match, plan: Plan, options: Mapping[str, str]) -> None:
    spec = node.match_spec
    (source,) = plan.inputs(node)
    _check_order(node, source.output_type)
    if spec.all_rows:
        raise UnsupportedError("ALL ROWS PER MATCH, as Flink has it", hint="write ONE ROW PER MATCH")
    skip_of(spec, variables_of(spec))
    within_ms(spec)
    check_expressions(spec, source.output_type)
    if row_kinds(plan)[source.id] not in (INSERTS, None):
        raise UnsupportedError("MATCH_RECOGNIZE over rows that are updated or deleted, as Flink has it")


def _check_order(node: Match, row: LogicalType) -> None:
    spec = node.match_spec
    for index in (*spec.partition.fields, *(field.index for field in spec.order_by.fields)):
        check_column(index, row)
    first = next(iter(spec.order_by.fields), None)
    order = None if first is None or not first.is_ascending else row.field_types[first.index]
    if node.metadata.is_batch:
        if order is None or order.root not in TIMESTAMPS:
            raise UnsupportedError("MATCH_RECOGNIZE that is not ordered by a timestamp first, from early to late")
    elif order is None or not order.is_time_attribute:
        raise UnsupportedError("MATCH_RECOGNIZE that is not ordered by a time attribute first, from early to late")


@chooser(Match, check=_check)
def match_recognize(node: Match, query: QueryPlan) -> KernelMatch:
    """One row a match: the columns of its partition and its measures."""
    first = node.match_spec.order_by.fields[0].index
    rows = until_watermark("MapState", "rows", "rows that wait, by their times")
    matches = StateLayout("matches", "ValueState", "matches that have begun", "until they end")
    matched = StateLayout("matched", "MapState", "the rows of these by their numbers", "until they end")
    return KernelMatch(
        kernel="time.MatchRecognize",
        why="rows are looked at when the watermark reaches them",
        shuffle=query.keys(node),
        states=(rows, matches, matched, TIMER),
        by_clock=query.input(node).output_type.field_types[first].is_proctime,
    )
