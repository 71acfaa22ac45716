"""Sources without rows, filters that let none pass, and rows that were dropped as late."""

from __future__ import annotations

from collections.abc import Iterator

from ..plan.nodes import ExecNode, TableSourceScan
from .model import Diagnosis, diagnosis
from .query import QUIET_MS, QueryCase, condition_text, delay_ms, filters
from .texts import duration, milliseconds, quoted, rows

_KAFKA = ("kafka", "upsert-kafka")
_FROM_NOW_ON = ("latest-offset", "group-offsets")
_IGNORES_ERRORS = ".ignore-parse-errors"
_YEAR_MS = 365 * 86_400_000
_AHEAD_MS = 3_600_000


@diagnosis(
    "first-batch",
    "The first batch of a query has not ended, so that nothing was counted yet.",
    "the batches that the checkpoint lists",
)
class FirstBatch(Diagnosis, kw_only=True):
    """``since_ms``: for how long the job has run."""

    since_ms: int

    @property
    def message(self) -> str:
        return f"the first batch has not ended, {duration(self.since_ms)} after the job began"

    @property
    def hint(self) -> str | None:
        return "ask again; a source that is large can be read in smaller batches: --files-per-batch"

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[FirstBatch]:
        if query.has_first_batch:
            sink = query.plan.sinks[0]
            since = max(query.now - query.started, 0)
            yield cls(sink=query.sink, node=query.names[sink.id], node_id=sink.id, since_ms=since)


@diagnosis(
    "no-rows",
    "A source has had no rows, or none for a minute.",
    "the rows of each batch by source",
)
class SourceWithoutRows(Diagnosis, kw_only=True):
    """``rows`` is how many there were before, ``quiet_ms`` for how long there were none."""

    table: str
    rows: int
    quiet_ms: int
    hints: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        if self.rows:
            return (
                f"{quoted(self.table)} has had no rows for {duration(self.quiet_ms)}; before, there were {self.rows:,}"
            )
        return f"{quoted(self.table)} has had no rows since the job began, {duration(self.quiet_ms)} ago"

    @property
    def hint(self) -> str | None:
        return "; ".join(self.hints) or None

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[SourceWithoutRows]:
        if not query.is_silent:
            return
        for scan in query.scans:
            read, quiet = query.source(scan).rows, query.quiet_ms(scan)
            if not read or (query.is_running and quiet >= QUIET_MS):
                hints = tuple(_source_hints(query, scan, read))
                yield cls(
                    sink=query.sink,
                    node=query.names[scan.id],
                    node_id=scan.id,
                    table=scan.scan_table_source.table.name,
                    rows=read,
                    quiet_ms=quiet,
                    hints=hints,
                )


def _source_hints(query: QueryCase, scan: TableSourceScan, read: int) -> Iterator[str]:
    options = query.options(scan)
    connector = options.get("connector", "")
    if connector in _KAFKA and not read:
        startup = options.get("scan.startup.mode", "group-offsets" if connector == _KAFKA[0] else "")
        if startup in _FROM_NOW_ON:
            yield (
                f"'scan.startup.mode' = '{startup}' reads what comes after the start, or after what the group has "
                "read; 'earliest-offset' reads the topic from its beginning"
            )
    if connector == "filesystem":
        if not read:
            yield f"look whether there are files below {options.get('path', '')}"
        if query.is_running and "source.monitor-interval" not in options:
            yield "files that come later are read with 'source.monitor-interval'"
    if not read and (ignoring := _ignores_errors(query, scan)):
        yield f"'{ignoring}' = 'true' leaves out what the format cannot read, without a word"


def _ignores_errors(query: QueryCase, scan: TableSourceScan) -> str | None:
    options = query.options(scan).items()
    return next((key for key, value in options if key.endswith(_IGNORES_ERRORS) and value.lower() == "true"), None)


@diagnosis(
    "filter",
    "A filter lets no row pass.",
    "the rows of sources and operators, and those behind the filters that follow",
)
class FilterPassesNothing(Diagnosis, kw_only=True):
    """``input`` is what the rows come from, ``rows`` how many came, ``conditions`` those that they do not meet: one of
    them where there are several.
    """

    input: str
    rows: int
    conditions: tuple[str, ...]

    @property
    def message(self) -> str:
        conditions = " or ".join(self.conditions)
        return f"none of {rows(self.rows)} of {quoted(self.input)} passes the filter {conditions}"

    @property
    def hint(self) -> str | None:
        return (
            "select the columns of the filter without it: a column that is always NULL often has another name in the "
            "messages, and texts differ in case and spaces"
        )

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[FilterPassesNothing]:
        for flow in query.counts.flows:
            source, reader = query.plan.by_id[flow.source], query.plan.by_id.get(flow.reader or -1)
            dropped = 0 if reader is None else query.operator(reader).dropped
            if not flow.passed and not dropped:
                yield from cls._between(query, source, query.source(source).rows, reader)
        sink = query.plan.sinks[0]
        for node_id, counts in query.counts.operators.items():
            if counts.rows_out and not query.counts.written and node_id in query.plan.by_id:
                node = query.plan.by_id[node_id]
                path = query.between(node, sink)
                if not any(each.id in query.counts.operators for each in path):
                    yield from cls._between(query, node, counts.rows_out, sink)

    @classmethod
    def _between(
        cls, query: QueryCase, source: ExecNode, came: int, reader: ExecNode | None
    ) -> Iterator[FilterPassesNothing]:
        calcs = filters(query.between(source, reader))
        if came and calcs:
            yield cls(
                sink=query.sink,
                node=query.names[calcs[0].id],
                node_id=calcs[0].id,
                input=query.table(source) if isinstance(source, TableSourceScan) else query.names[source.id],
                rows=came,
                conditions=tuple(condition_text(calc) for calc in calcs),
            )


@diagnosis(
    "late-rows",
    "An operator drops rows because they come behind the watermark.",
    "the rows dropped by operator, and how late the latest of them was",
)
class RowsDroppedAsLate(Diagnosis, kw_only=True):
    """``lateness_ms`` is that of the latest row, ``None`` where it is not known.

    ``column`` and ``delay_ms`` are the time column of the one source before the operator and the delay of its
    watermark, where there is one.  ``ahead_ms``: how far the watermark is ahead of the clock.
    """

    rows: int
    lateness_ms: int | None
    table: str | None = None
    column: str | None = None
    delay_ms: int | None = None
    ahead_ms: int = 0

    @property
    def message(self) -> str:
        by = "" if self.lateness_ms is None else f", the latest of them by {duration(self.lateness_ms)}"
        return f"{self.node} has dropped {rows(self.rows)} as late{by}"

    @property
    def hint(self) -> str | None:
        if self.ahead_ms > _AHEAD_MS:
            return (
                f"the watermark is {duration(self.ahead_ms)} ahead of the clock: a row with a time in the future has "
                "moved it, or the time is in another unit"
            )
        if self.lateness_ms is None:
            return "let the watermark be further behind: WATERMARK FOR … AS … - INTERVAL …"
        if self.lateness_ms > _YEAR_MS:
            return "look whether the times are in the unit that the table says: seconds or milliseconds"
        if self.column is None or self.delay_ms is None:
            return f"let the watermarks be further behind by {duration(self.lateness_ms + 1000)}"
        seconds = -(-(self.delay_ms + self.lateness_ms + 1) // 1000)
        column = quoted(self.column)
        return (
            f"with WATERMARK FOR {column} AS {column} - INTERVAL '{seconds}' SECOND({max(len(str(seconds)), 2)}) in "
            f"{quoted(self.table or '')} none would be late; results then come later"
        )

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[RowsDroppedAsLate]:
        reached = milliseconds(query.counts.watermark)
        for node_id, counts in query.counts.operators.items():
            if not counts.dropped or node_id not in query.plan.by_id:
                continue
            node = query.plan.by_id[node_id]
            assigners = query.assigners(node)
            assigner = assigners[0] if len(assigners) == 1 else None
            yield cls(
                sink=query.sink,
                node=query.names[node_id],
                node_id=node_id,
                rows=counts.dropped,
                lateness_ms=counts.lateness_ms,
                table=query.table(assigner) if assigner else None,
                column=assigner.fields[assigner.rowtime_field_index].name if assigner else None,
                delay_ms=delay_ms(assigner) if assigner else None,
                ahead_ms=0 if reached is None else max(reached - query.now, 0),
            )
