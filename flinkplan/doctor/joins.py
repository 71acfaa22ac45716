"""Joins whose sides never met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..plan.durations import format_duration
from ..plan.explain import columns_of
from ..plan.nodes import ExecNode, IntervalJoin, Join, LookupJoin, TemporalJoin, WindowJoin
from ..plan.specs import JoinSpec, JoinType
from ..state.counts import Period
from .keys import KeyComparison
from .model import Diagnosis, diagnosis
from .query import QueryCase, filters
from .texts import duration, moment, quoted, rows

_SIDES = ("left", "right")


class Sides(Diagnosis, kw_only=True):
    """What diagnoses of joins have in common: the names of the key's columns and the rows of each side, where known."""

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    left_rows: int | None = None
    right_rows: int | None = None

    @property
    def condition(self) -> str:
        """The columns that are compared."""
        return " AND ".join(f"{a} = {b}" for a, b in zip(self.left_keys, self.right_keys, strict=True))


def _spec(node: ExecNode) -> JoinSpec | None:
    match node:
        case Join() | TemporalJoin() | WindowJoin():
            return node.join_spec
        case IntervalJoin():
            return node.interval_join_spec.join_spec
    return None


class _Meeting:
    """A join whose sides both had rows, and which has emitted none as far as that is known."""

    def __init__(self, query: QueryCase, node: ExecNode, spec: JoinSpec) -> None:
        self.node, self.spec = node, spec
        self.left, self.right = query.plan.inputs(node)
        self.rows = query.arrived(self.left, node), query.arrived(self.right, node)
        counts = query.operator(node)
        sink = query.plan.sinks[0]
        self.rows_out = counts.rows_out
        if self.rows_out is None and not query.counts.written:
            behind = query.between(node, sink)
            only_one = not filters(behind) and not any(_spec(each) for each in behind)
            self.rows_out = 0 if only_one else None

    @property
    def is_empty(self) -> bool:
        """Whether both sides had rows, and nothing came out."""
        return self.rows_out == 0 and all(rows is None or rows for rows in self.rows) and any(self.rows)

    def fields(self, query: QueryCase) -> dict[str, object]:
        """The fields of :class:`Sides`."""
        return {
            "sink": query.sink,
            "node": query.names[self.node.id],
            "node_id": self.node.id,
            "left_keys": _key_names(query, self.left, self.spec.left_keys),
            "right_keys": _key_names(query, self.right, self.spec.right_keys),
            "left_rows": self.rows[0],
            "right_rows": self.rows[1],
        }


def _key_names(query: QueryCase, side: ExecNode, keys: Sequence[int]) -> tuple[str, ...]:
    """The columns of a key, with their table where all rows of the side come from one."""
    tables = {query.table(scan) for scan in query.sources_of(side)}
    prefix = f"{tables.pop()}." if len(tables) == 1 else ""
    return tuple(f"{prefix}{column}" for column in columns_of(side, keys))


def _meetings(query: QueryCase) -> Iterator[_Meeting]:
    for node in query.plan.nodes:
        spec = _spec(node)
        if isinstance(node, TemporalJoin | WindowJoin) and not query.has_input_ended:
            continue  # its rows may wait for the watermark
        if spec is not None and spec.left_keys:
            yield _Meeting(query, node, spec)


def has_unmet_join(query: QueryCase) -> bool:
    """Whether the keys in the state of a join tell more than the counts of its rows."""
    return any(
        isinstance(meeting.node, Join) and (meeting.is_empty or _preserves(meeting)) for meeting in _meetings(query)
    )


@diagnosis(
    "ttl",
    "The state of one side of a join has expired before rows of the other side came.",
    "the TTLs of the plan, and when rows of each source came",
)
class ExpiredBeforeMeeting(Sides, kw_only=True):
    """``side`` is the side whose rows came first, ``ttl_ms`` the TTL of its state, ``gap_ms`` the shortest time from
    one of them to a row of the other side.
    """

    side: str
    ttl_ms: int
    gap_ms: int
    state: str

    @property
    def message(self) -> str:
        other = _SIDES[1 - _SIDES.index(self.side)]
        return (
            f"rows of the {self.side} side of {self.node} expire {duration(self.ttl_ms)} after they came; those of the "
            f"{other} side came {duration(self.gap_ms)} later, or more"
        )

    @property
    def hint(self) -> str | None:
        least = format_duration(-(-self.gap_ms // 60_000) * 60_000)
        return f"a TTL longer than the gap: flinkplan ttl PLAN --set {self.node}.{self.state}='{least}' --in-place"

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[ExpiredBeforeMeeting]:
        for meeting in _meetings(query):
            if isinstance(meeting.node, Join) and meeting.is_empty:
                yield from cls._of(query, meeting, meeting.node)

    @classmethod
    def _of(cls, query: QueryCase, meeting: _Meeting, node: Join) -> Iterator[ExpiredBeforeMeeting]:
        periods = [_periods(query, side) for side in (meeting.left, meeting.right)]
        states = type(node).declared_states(2)
        gaps = [shortest_gap(periods[side], periods[1 - side]) for side in range(2)]
        expires = [gap is None or 0 < node.ttl_ms(side) < gap for side, gap in enumerate(gaps)]
        if not all(expires):
            return
        for side, gap in enumerate(gaps):
            if gap is not None:
                yield cls(
                    **meeting.fields(query),  # type: ignore[arg-type]
                    side=_SIDES[side],
                    ttl_ms=node.ttl_ms(side),
                    gap_ms=gap,
                    state=states[side].name,
                )


def _periods(query: QueryCase, side: ExecNode) -> list[Period]:
    return [period for scan in query.sources_of(side) for period in query.source(scan).periods]


def shortest_gap(first: Sequence[Period], then: Sequence[Period]) -> int | None:
    """The shortest time (milliseconds) from a row of some periods to a later one of others; ``None``: none is later."""
    gaps = [max(after.first - before.last, 0) for before in first for after in then if after.last >= before.first]
    return min(gaps, default=None)


@diagnosis(
    "join-keys",
    "The sides of a join have no key in common.",
    "the rows that went into and came out of the join, and the keys in its state",
)
class NoCommonKeys(Sides, kw_only=True):
    """``comparison`` is what the keys in the state say; ``None`` where they were not read."""

    comparison: KeyComparison | None = None

    @property
    def message(self) -> str:
        came = ""
        if self.left_rows and self.right_rows:
            came = f": {rows(self.left_rows)} came on the left, {self.right_rows:,} on the right"
        text = f"no rows have met in {self.node} on {self.condition}{came}"
        keys = self.comparison
        if keys is None or keys.samples is None:
            return text
        if keys.form is not None and keys.example is not None:
            least = min(keys.left, keys.right)
            return (
                f"{text}; {keys.alike:,} of {least:,} keys would be on both sides but for {keys.form.what}, such as "
                f"{keys.example[0]} and {keys.example[1]}"
            )
        return (
            f"{text}; no key is on both sides, such as {keys.samples[0]} on the left and {keys.samples[1]} on the right"
        )

    @property
    def hint(self) -> str | None:
        if self.comparison is None:
            return "look whether the keys of both sides are written alike: their case, spaces and types"
        return self.comparison.form.fix if self.comparison.form else "look whether these are the columns to join on"

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[Diagnosis]:
        for meeting in _meetings(query):
            if not meeting.is_empty and not _preserves(meeting):
                continue
            keys = query.compare_keys(query, meeting.node) if isinstance(meeting.node, Join) else None
            if keys is not None and (keys.common or not keys.left or not keys.right):
                continue
            if meeting.is_empty or keys is not None:
                yield cls(**meeting.fields(query), comparison=keys)  # type: ignore[arg-type]


def _preserves(meeting: _Meeting) -> bool:
    """Whether rows come out of a join without a match, so that only its state tells whether any have met."""
    return meeting.spec.join_type.value in ("LEFT", "RIGHT", "FULL", "ANTI")


@diagnosis(
    "null-keys",
    "Each row of a side of a join has NULL in its key, which matches nothing.",
    "the rows of a source, and those before the join whose key is not NULL",
)
class NullKeys(Sides, kw_only=True):
    """``side`` is the side of the join, ``table`` the source of its rows, ``rows`` how many there were."""

    side: str
    table: str
    rows: int

    @property
    def message(self) -> str:
        keys = self.left_keys if self.side == _SIDES[0] else self.right_keys
        columns = " or ".join(keys)
        return f"each of {rows(self.rows)} of {quoted(self.table)} has NULL in {columns}, by which {self.node} joins"

    @property
    def hint(self) -> str | None:
        return "look whether the messages have a field of this name"

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[NullKeys]:
        for meeting in _meetings(query):
            for name, side in zip(_SIDES, (meeting.left, meeting.right), strict=True):
                for scan in query.sources_of(side):
                    read, passed = query.source(scan).rows, query.counts.passed(scan.id, meeting.node.id)
                    path = query.between(scan, meeting.node)
                    if read and passed == 0 and not filters(path) and any(meeting.spec.filter_nulls):
                        yield cls(
                            **meeting.fields(query),  # type: ignore[arg-type]
                            side=name,
                            table=query.table(scan),
                            rows=read,
                        )


@diagnosis(
    "lookup",
    "A lookup join finds no row of its table.",
    "the rows that came to the join, and those of the operator or sink behind it",
)
class NothingLookedUp(Diagnosis, kw_only=True):
    """``table`` is the table that is looked up, ``input`` the source of the ``rows`` that it was looked up for."""

    table: str
    input: str
    rows: int

    @property
    def message(self) -> str:
        return f"no row of {quoted(self.table)} was found for any of {rows(self.rows)} of {quoted(self.input)}"

    @property
    def hint(self) -> str | None:
        return (
            f"look whether {quoted(self.table)} has rows, and writes its keys in the same way: case, spaces and types"
        )

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[NothingLookedUp]:
        for flow in query.counts.flows:
            reader = query.plan.by_id.get(flow.reader or -1)
            if reader is None or not flow.passed:
                continue
            arrived = query.counts.written if reader is query.plan.sinks[0] else query.operator(reader).rows_in
            source = query.plan.by_id[flow.source]
            lookups = [each for each in query.between(source, reader) if isinstance(each, LookupJoin)]
            inner = [each for each in lookups if each.join_type is JoinType.INNER]
            if arrived == 0 and inner:
                yield cls(
                    sink=query.sink,
                    node=query.names[inner[0].id],
                    node_id=inner[0].id,
                    table=inner[0].table.name,
                    input=query.table(source),
                    rows=flow.passed,
                )


@diagnosis(
    "interval",
    "The times of the two sides of an interval join are further apart than its interval.",
    "the watermark of each side",
)
class OutsideInterval(Sides, kw_only=True):
    """``lower_ms`` and ``upper_ms`` bound the left time less the right one; ``left_ms`` and ``right_ms`` are the
    watermarks of the sides.
    """

    lower_ms: int
    upper_ms: int
    left_ms: int
    right_ms: int

    @property
    def message(self) -> str:
        apart = abs(self.left_ms - self.right_ms)
        return (
            f"no rows have met in {self.node}: its left side is at {moment(self.left_ms)}, its right side at "
            f"{moment(self.right_ms)}, which is {duration(apart)} apart; it joins times of which the left one is from "
            f"{_signed(self.lower_ms)} to {_signed(self.upper_ms)} after the right one"
        )

    @property
    def hint(self) -> str | None:
        return "look whether both sides have rows of the same time, and times in the same zone and unit"

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[OutsideInterval]:
        for meeting in _meetings(query):
            node = meeting.node
            if not isinstance(node, IntervalJoin) or not meeting.is_empty:
                continue
            bounds = node.interval_join_spec.window_bounds
            marks = [_reached(query, side) for side in (meeting.left, meeting.right)]
            left, right = marks
            if left is None or right is None or not bounds.is_event_time:
                continue
            lower, upper = int(bounds.left_lower_bound), int(bounds.left_upper_bound)
            if not lower <= left - right <= upper:
                yield cls(
                    **meeting.fields(query),  # type: ignore[arg-type]
                    lower_ms=lower,
                    upper_ms=upper,
                    left_ms=left,
                    right_ms=right,
                )


def _signed(ms: int) -> str:
    return f"-{duration(-ms)}" if ms < 0 else duration(ms)


def _reached(query: QueryCase, side: ExecNode) -> int | None:
    marks = [query.watermark_of(assigner) for assigner in query.assigners(side)]
    known = [mark for mark in marks if mark is not None]
    return min(known, default=None)
