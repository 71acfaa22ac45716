"""MATCH_RECOGNIZE, as :mod:`..from_flink.patterns` reads it.

A kernel keeps the steps of matches, and of each row the columns that the pattern reads; Flink reads no others of whole
rows either, so that these are NULL.

Sources: Flink's ``NFA``, ``SharedBufferAccessor`` and ``CepOperator``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from ....plan.nodes import Match
from ....plan.rex import InputRef
from ....plan.savepoint import flink_states
from ....plan.savepoint.patterns import place_names
from ....plan.types.parser import parse_type
from ...jvm.spark import F, sql
from ...jvm.types import spark_type
from ...prepare.known.match_values import row_values
from ...prepare.known.patterns import variables_of, within_ms
from ..from_flink.patterns import NONE, Event, Node, Step
from .givers import FlinkEntries, Given, Giver, as_row, gives, parts, timers_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_BRANCHES = 1000
"""By how much the versions of matches with the same last row differ: more than a match can branch at a row."""

FlinkMatch = tuple[str, Node | None, Sequence[int], int, int, Event | None]
"""The place, the last node, the version, the times of the first and the last row, and the first row."""


class Buffer:
    """The nodes and events of the matches of a key, each with how often it is referred to."""

    def __init__(self, steps: Sequence[Step], times: Mapping[int, int], variables: Sequence[str]) -> None:
        """``steps`` are a kernel's, ``times`` those of rows by their numbers."""
        self._steps = steps
        self._variables = variables
        self._events = _events(times)
        self._next: dict[int, int] = {NONE: 1}
        """The next digit of versions behind each step."""
        self._versions: list[list[int]] = []
        self._references = [0] * len(steps)
        for _, _, before in steps:
            self._versions.append([*(self._versions[before] if before != NONE else ()), self._digit(before, 1)])
            if before != NONE:
                self._references[before] += 1

    def _digit(self, step: int, width: int) -> int:
        digit = self._next.get(step, 0)
        self._next[step] = digit + width
        return digit

    def match(self, place: str, last: int) -> FlinkMatch:
        """A match in a place with a last step, to which it refers from now on."""
        if last == NONE:
            return place, None, [self._digit(NONE, _BRANCHES)], -1, -1, None
        self._references[last] += 1
        first = last
        while self._steps[first][2] != NONE:
            first = self._steps[first][2]
        start, end = self._event(first), self._event(last)
        version = [*self._versions[last], self._digit(last, _BRANCHES)]
        return place, self._node(last), version, start[1], end[1], start

    def _event(self, step: int) -> Event:
        return self._events[self._steps[step][1]]

    def _node(self, step: int) -> Node | None:
        return None if step == NONE else (self._event(step), self._variables[self._steps[step][0]])

    @property
    def nodes(self) -> Mapping[Node, tuple[int, Sequence[tuple[int, tuple[Node | None, Sequence[int]]]]]]:
        """How often each node is referred to, and its edges, with how often each of them is."""
        edges: dict[Node, list[tuple[int, tuple[Node | None, Sequence[int]]]]] = {}
        for step, (_, _, before) in enumerate(self._steps):
            node = self._node(step)
            assert node is not None
            edges.setdefault(node, []).append((self._references[step], (self._node(before), self._versions[step])))
        return {node: (sum(count for count, _ in own), own) for node, own in edges.items()}

    @property
    def events(self) -> Sequence[tuple[int, Event, int]]:
        """The number of each row, the row, and in how many nodes it is."""
        nodes = list(self.nodes)
        return [(n, event, sum(node[0] == event for node in nodes)) for n, event in self._events.items()]


def _events(times: Mapping[int, int]) -> Mapping[int, Event]:
    """The rows by their numbers: those of one time are counted in Flink."""
    known: dict[int, int] = {}
    events = {}
    for number in sorted(times):
        time = times[number]
        events[number] = known.get(time, 0), time
        known[time] = known.get(time, 0) + 1
    return events


@gives(Match)
def match_recognize(giver: Giver) -> Given:
    """The rows that wait, the matches that have begun, and the rows of these."""
    node = giver.node
    assert isinstance(node, Match)
    frame = giver.entries["rows"]
    (time,), (rows,) = (parts(frame, name) for name in ("map_key", "value"))
    waiting = frame.select(
        "key",
        time.cast("bigint").alias("time"),
        F.transform(rows, lambda row: _row(giver, node, row)).alias("rows"),
        F.lit(giver.now).alias("accessed"),
    )
    begun = _begun(giver, node)
    match = begun.select("key", "accessed", "matches.*")
    each = match.select("key", "accessed", F.inline("nodes"))
    by_number = match.select("key", "accessed", F.inline("events"))
    kept = giver.entries["matched"]
    stored = kept.select("key", F.col("map_key.number").alias("number"), parts(kept, "value")[1].alias("row"))
    same = F.col("events.key").eqNullSafe(F.col("rows.key")) & (F.col("events.number") == F.col("rows.number"))
    events = by_number.alias("events").join(stored.alias("rows"), same).select("events.*", "rows.row")
    counts = by_number.groupBy("key", "event.time").agg(
        F.count("*").cast("int").alias("count"), F.max("accessed").alias("accessed")
    )
    timers = timers_of(giver, by_clock=giver.operator.time_mode == "ProcessingTime")
    due = _due(waiting, match, within_ms(node.match_spec))
    return {
        flink_states.PATTERN_QUEUE: FlinkEntries(waiting, [F.col("rows")], [F.col("time")]),
        flink_states.PATTERN_MATCHES: FlinkEntries(match, _matches(giver)),
        flink_states.PATTERN_ENTRIES: FlinkEntries(each, [F.col("count"), F.col("edges")], [F.col("node")]),
        flink_states.PATTERN_EVENTS: FlinkEntries(
            events, [F.col("count"), _row(giver, node, F.col("row"))], [F.col("event.id"), F.col("event.time")]
        ),
        flink_states.PATTERN_EVENT_COUNTS: FlinkEntries(counts, [F.col("count")], [F.col("time")]),
        timers: FlinkEntries(due, [F.col("due")]),
    }


def _row(giver: Giver, node: Match, kept: Column) -> Column:
    """A row of the input, of what a kernel keeps of it."""
    (source,) = giver.plan.inputs(node)
    places = {
        rex.index: place
        for place, rex in enumerate(row_values(node, source.output_type).expressions)
        if type(rex) is InputRef
    }
    names = giver.entries["matched"].schema["value"].dataType.fields[1].dataType.names  # type: ignore[attr-defined]
    columns = [
        kept.getField(names[places[i]]) if i in places else F.lit(None).cast(spark_type(t))
        for i, t in enumerate(giver.types())
    ]
    return as_row(F.struct(*(column.alias(f"c{i}") for i, column in enumerate(columns))), giver.types())


_EVENT = "struct<id:int,time:bigint>"
_NODE = f"struct<event:{_EVENT},variable:string>"
_MATCH = f"struct<place:string,last:{_NODE},version:array<int>,start:bigint,previous:bigint,first:{_EVENT}>"
_EDGE = f"struct<count:int,edge:struct<node:{_NODE},version:array<int>>>"
_BEGUN = (
    f"struct<partial:array<{_MATCH}>,complete:array<{_MATCH}>,nodes:array<struct<node:{_NODE},count:int,"
    f"edges:array<{_EDGE}>>>,events:array<struct<number:bigint,event:{_EVENT},count:int>>>"
)


def _begun(giver: Giver, node: Match) -> DataFrame:
    """The matches of each key as Flink keeps them, in ``matches``, and what they refer to."""
    kept = giver.entries["matched"]
    time = parts(kept, "value")[0].alias("time")
    times = kept.select("key", F.col("map_key.number").alias("number"), time)
    gathered = times.groupBy("key").agg(F.collect_list(F.struct("number", "time")).alias("times"))
    same = F.col("one.key").eqNullSafe(F.col("other.key"))
    own = giver.entries["matches"]
    joined = own.alias("one").join(gathered.alias("other"), same, "left").select("one.key", "one.value", "other.times")
    variables = variables_of(node.match_spec)
    give = _Give([v.name for v in variables], list(place_names(variables)))
    given_by = F.udf(lambda value, times: give(value, times), _BEGUN)
    return joined.select("key", given_by("value", "times").alias("matches"), F.lit(giver.now).alias("accessed"))


class _Give:
    """Makes what Flink keeps of the matches of a key, in Spark's Python: a key has few."""

    def __init__(self, variables: Sequence[str], places: Sequence[str]) -> None:
        self._variables = variables
        self._places = places

    def __call__(self, value: Any, times: Any) -> Any:
        steps, partial, complete = value
        buffer = Buffer([tuple(step) for step in steps], dict(times or ()), self._variables)
        matches = [[buffer.match(self._places[place], last) for place, last in own] for own in (partial, complete)]
        nodes = [(node, count, edges) for node, (count, edges) in buffer.nodes.items()]
        return (*matches, nodes, buffer.events)


def _matches(giver: Giver) -> list[Column]:
    """The matches with the fields that Flink's have: it keeps the time of the last row since version 1.16."""
    names = ["place", "last", "version", "start", "previous", "first"]

    def fields(one: Column) -> Column:
        return F.struct(*(one[name].alias(name) for name in kept))

    table = giver.tables[flink_states.PATTERN_MATCHES]
    width = len(parse_type(table.value[0].type).children[0].fields)
    kept = [name for name in names if width == len(names) or name != "previous"]
    return [F.transform(matches, fields) for matches in ("partial", "complete")]


def _due(waiting: DataFrame, match: DataFrame, within: int) -> DataFrame:
    """When Flink looks at each key again: at the times of rows that wait, and where a match has lasted too long."""
    times = [waiting.select("key", F.col("time").alias("due"))]
    if within:
        begun = match.select("key", F.explode("partial").alias("match")).where("match.last IS NOT NULL")
        times.append(begun.select("key", (F.col("match.start") + within).alias("due")))
    return reduce(sql.DataFrame.unionByName, times).distinct()
