"""MATCH_RECOGNIZE.

Flink keeps the rows of matches in a buffer, in which each row leads to those that may stand before it; a match finds
its way through it by its version.  A kernel keeps the steps of each match, those that matches have in common once.

Sources: Flink's ``CepOperator``, ``NFAState``, ``SharedBuffer`` and ``SharedBufferAccessor``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....plan.nodes import Match
from ....plan.savepoint import flink_states
from ....plan.savepoint.patterns import is_compatible, place_names, variable_name
from ....state.form import StateError
from ...expressions import to_column
from ...jvm.spark import F, sql
from ...jvm.types import field_name
from ...prepare.known.match_values import row_values
from ...prepare.known.patterns import variables_of, within_ms
from .carriers import Carried, Carrier, carries

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

NONE = -1
"""Stands in the place of a step where there is none, as in ``Matches.java``."""

Event = tuple[int, int]
"""A row: its number among those of its time, and the time."""

Node = tuple[Event, str]
"""A row as one of a variable."""

Edge = tuple[Node | None, Sequence[int]]
"""The node before, ``None`` at the beginning of a match, and the version that goes there."""

Step = tuple[int, int, int]
"""The number of the variable, that of the row, and the place of the step before."""

SavedMatch = tuple[int, int]
"""The number of the place in which a match stands, and its last step."""


def saved_matches(
    matches: Sequence[tuple[str, Node | None, Sequence[int]]],
    edges: Mapping[Node, Sequence[Edge]],
    numbers: Mapping[Event, int],
    variables: Sequence[str],
    places: Mapping[str, int],
) -> tuple[list[Step], list[SavedMatch]]:
    """The steps of matches, and where each match stands.

    ``matches`` are their places, last nodes and versions.  ``edges`` of nodes and ``numbers`` of rows are those of the
    buffer; ``variables`` are the names of the pattern's, ``places`` the numbers of places.
    """
    steps: list[Step] = []
    known: dict[tuple[Node, int], int] = {}
    saved = []
    for place, last, version in matches:
        path = []
        node = last
        while node is not None:
            path.append(node)
            before = next((edge for edge in edges.get(node, ()) if is_compatible(version, edge[1])), None)
            if before is None:
                raise StateError("the buffer of matches lacks a row")
            node, version = before
        step = NONE
        for node in reversed(path):
            if (node, step) not in known:
                event, variable = node
                known[node, step] = len(steps)
                steps.append((variables.index(variable_name(variable)), numbers[event], step))
            step = known[node, step]
        saved.append((places[place], step))
    return steps, saved


@carries(Match, implied=(flink_states.PATTERN_EVENT_COUNTS,))
def match_recognize(carrier: Carrier) -> Carried:
    """The rows that wait, the matches that have begun, and the rows of these."""
    node = carrier.node
    assert isinstance(node, Match)
    waiting = _waiting(carrier, node)
    begun = _begun(carrier, node)
    times = [frame for frame in (waiting.pop(_TIMES, None), begun.pop(_TIMES, None)) if frame is not None]
    entries = {**waiting, **begun}
    if not times:
        return entries
    due = times[0] if len(times) == 1 else times[0].unionByName(times[1])
    return {**entries, **carrier.due(due.groupBy("key").agg(F.min("time").alias("time")))}


_TIMES = "$times"


def _row(carrier: Carrier, node: Match, row: Column) -> Column:
    """What the kernel keeps of a row."""
    columns = [row.getField(field_name(i)) for i in range(len(carrier.fields()))]
    (source,) = carrier.plan.inputs(node)
    kept = row_values(node, source.output_type).expressions
    return F.struct(*(to_column(rex, columns, time_zone=carrier.time_zone) for rex in kept))


def _waiting(carrier: Carrier, node: Match) -> dict[str, DataFrame]:
    table = carrier.table(flink_states.PATTERN_QUEUE)
    if table is None:
        return {}
    time = table.frame["map_key"].getField(field_name(0)).cast("bigint")
    rows = F.transform(table.frame["value"].getField(field_name(0)), lambda row: _row(carrier, node, row))
    entries = dict([carrier.put("rows", 0, table, F.struct(rows), F.struct(time))])
    return {**entries, _TIMES: table.frame.select(carrier.key(table).alias("key"), time.alias("time"))}


def _begun(carrier: Carrier, node: Match) -> dict[str, DataFrame]:
    matches, buffer = carrier.table(flink_states.PATTERN_MATCHES), carrier.table(flink_states.PATTERN_ENTRIES)
    events = carrier.table(flink_states.PATTERN_EVENTS)
    if matches is None or buffer is None or events is None:
        return {}
    event = [events.frame["map_key"].getField(field_name(i)) for i in range(2)]
    order = sql.Window.partitionBy("key").orderBy("time", "id")
    numbered = events.frame.select(
        carrier.key(events).alias("key"),
        event[0].alias("id"),
        event[1].alias("time"),
        events.frame["value"].getField(field_name(1)).alias("row"),
    ).withColumn("number", F.row_number().over(order).cast("bigint") - 1)
    kept = numbered.select(
        "key",
        F.struct("number").alias("map_key"),
        F.struct("time", _row(carrier, node, F.col("row"))).alias("value"),
    )
    numbers = numbered.groupBy("key").agg(F.collect_list(F.struct("id", "time", "number")).alias("numbers"))
    nodes = buffer.frame.select(
        carrier.key(buffer).alias("key"),
        F.struct(
            buffer.frame["map_key"].getField(field_name(0)).alias("node"),
            F.transform(buffer.frame["value"].getField(field_name(1)), lambda edge: edge.getField(field_name(1))).alias(
                "edges"
            ),
        ).alias("node"),
    )
    gathered = nodes.groupBy("key").agg(F.collect_list("node").alias("nodes"))
    own = matches.frame.select(carrier.key(matches).alias("key"), F.col("value").alias("matches"))
    joined = _joined(_joined(own, gathered, "nodes"), numbers, "numbers")
    state = carrier.operator.variable("matches").value
    variables = variables_of(node.match_spec)
    save = _Save([v.name for v in variables], list(place_names(variables)))
    saved_by = F.udf(lambda matches, nodes, numbers: save(matches, nodes, numbers), state)
    saved = joined.select("key", saved_by("matches", "nodes", "numbers").alias("value"))
    entries = dict([carrier.entries("matched", 0, kept), carrier.entries("matches", 0, saved)])
    within = within_ms(node.match_spec)
    if not within:
        return entries
    partial = F.col("matches").getField(field_name(0))
    begun = F.filter(partial, lambda match: match.getField(field_name(1)).isNotNull())
    start = F.array_min(F.transform(begun, lambda match: match.getField(field_name(3))))
    times = joined.select("key", (start + within).alias("time")).where("time IS NOT NULL")
    return {**entries, _TIMES: times}


def _joined(frame: DataFrame, other: DataFrame, name: str) -> DataFrame:
    same = F.col("one.key").eqNullSafe(F.col("other.key"))
    return frame.alias("one").join(other.alias("other"), same).select("one.*", f"other.{name}")


class _Save:
    """Makes what a kernel keeps of the matches of a key, in Spark's Python: a key has few."""

    def __init__(self, variables: Sequence[str], places: Sequence[str]) -> None:
        self._variables = variables
        self._places = {name: number for number, name in enumerate(places)}

    def __call__(self, matches: Any, nodes: Any, numbers: Any) -> Any:
        edges = {_node(node): [(_node(target), version) for target, version in edges] for node, edges in nodes}
        rows = {(id_, time): number for id_, time, number in numbers}
        partial, complete = matches
        all_matches = [(place, _node(last), version) for place, last, version, *_ in (*partial, *complete)]
        steps, saved = saved_matches(all_matches, edges, rows, self._variables, self._places)
        return steps, saved[: len(partial)], saved[len(partial) :]


def _node(row: Any) -> Any:
    return None if row is None else ((row[0][0], row[0][1]), row[1])
