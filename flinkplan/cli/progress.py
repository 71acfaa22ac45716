"""What ``execute`` and ``run`` show of a running job."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

import click

from ..plan.printable import json_text, one_line
from ..plan.record import Struct, to_builtins

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ..executor.jobs.progress import QueryProgress


class Progress(Protocol):
    """Is told of every batch while the job runs, and once that it has ended."""

    def batch_done(self, progress: QueryProgress) -> None:
        """A batch has been written."""

    def ended(self, how: str) -> None:
        """The jobs have ended: ``finished``, ``stopped`` or ``failed``."""


class Silent:
    """Shows nothing."""

    def batch_done(self, progress: QueryProgress) -> None:
        pass

    def ended(self, how: str) -> None:
        pass


def as_json(progress: QueryProgress) -> dict[str, Any]:
    """The fields of a batch's line, or of one that says what waits."""
    fields = to_builtins(progress)
    event = "waiting" if fields.pop("is_idle") else "batch"
    for optional in ("waiting", "lag"):
        if not fields[optional]:
            del fields[optional]
    return {"event": event, **fields, "rows_per_second": round(progress.rows_per_second or 0, 1)}


class SinkTotals(Struct):
    """What a sink's queries have done so far."""

    batches: int = 0
    read: int = 0
    written: int = 0
    dropped: int = 0
    last: QueryProgress | None = None

    def add(self, progress: QueryProgress) -> None:
        """Count a batch."""
        self.batches += not progress.is_idle
        self.read += progress.rows_read
        self.written += progress.rows_written
        self.dropped += progress.rows_dropped
        self.last = progress


class Totals:
    """Adds up what the sinks' queries do."""

    def __init__(self) -> None:
        self.totals: dict[str, SinkTotals] = {}
        self.started = time.monotonic()

    def batch_done(self, progress: QueryProgress) -> None:
        self.totals.setdefault(progress.sink, SinkTotals()).add(progress)


class JsonLines(Totals):
    """One JSON object a batch, on standard output, and one at the end."""

    def batch_done(self, progress: QueryProgress) -> None:
        super().batch_done(progress)
        _print(as_json(progress))

    def ended(self, how: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        sinks = {
            sink: {
                "batches": total.batches,
                "rows_read": total.read,
                "rows_written": total.written,
                "rows_dropped": total.dropped,
            }
            for sink, total in self.totals.items()
        }
        duration = round(1000 * (time.monotonic() - self.started))
        _print({"event": how, "time": now, "duration_ms": duration, "sinks": sinks})


def _print(event: dict[str, Any]) -> None:
    click.echo(json_text(event))


class Summary(Totals):
    """A line for each sink when the job has ended, on standard error."""

    def ended(self, how: str) -> None:
        for sink, total in self.totals.items():
            batches = f"{total.batches} batch{'' if total.batches == 1 else 'es'}"
            late = f", {total.dropped:,} too late" if total.dropped else ""
            click.echo(
                f"{one_line(sink)}: {total.read:,} rows read, {total.written:,} written{late} in {batches}", err=True
            )
        if self.totals or how != "failed":
            click.echo(f"{how} after {time.monotonic() - self.started:.1f} s", err=True)


class Live(Summary):
    """A table that follows the job on a terminal; the summary stays when it has ended."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live as RichLive

        super().__init__()
        self._live = RichLive(console=console, transient=True, get_renderable=self._table, refresh_per_second=4)
        self._live.start()

    def ended(self, how: str) -> None:
        self._live.stop()
        super().ended(how)

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, title=f"running for {time.monotonic() - self.started:.0f} s")
        for name in ("sink, operator", "batch", "rows in", "rows out", "rows/s", "watermark", "state rows", "late"):
            table.add_column(name, justify="left" if name.startswith("sink") else "right")
        for sink, total in self.totals.items():
            last = total.last
            assert last is not None
            rate = f"{last.rows_per_second or 0:,.0f}"
            known = [o.state_rows for o in last.operators if o.state_rows is not None]
            state = f"{sum(known):,}" if known else ""
            late = f"{total.dropped:,}" if total.dropped else ""
            cells = (f"{last.batch}", f"{total.read:,}", f"{total.written:,}", rate, last.watermark or "", state, late)
            table.add_row(Text(one_line(sink)), *cells, style="bold")
            for operator in last.operators:
                table.add_row(
                    Text(f"  {one_line(operator.name)}"), "", "", f"{operator.updated_rows:,}", "", "",
                    "" if operator.state_rows is None else f"{operator.state_rows:,}",
                    f"{operator.dropped_rows:,}",
                )  # fmt: skip
            for each in last.waiting:
                table.add_row(Text(one_line(f"  {each.waiting:,} {each.source} wait for {each.waits_for}")))
        return table


class Several:
    """Tells several."""

    def __init__(self, *told: Progress) -> None:
        self._told = told

    def batch_done(self, progress: QueryProgress) -> None:
        for each in self._told:
            each.batch_done(progress)

    def ended(self, how: str) -> None:
        for each in self._told:
            each.ended(how)


@contextmanager
def shown(log_format: str, quiet: bool, *others: Progress) -> Iterator[Progress]:
    """The way to show a job's progress that the options ask for, live on a terminal, and others to tell of it."""
    progress = Several(_progress(log_format, quiet), *others)
    how = "failed"
    try:
        yield progress
        how = "finished"
    except KeyboardInterrupt:
        how = "stopped"
        raise
    finally:
        progress.ended(how)


def _progress(log_format: str, quiet: bool) -> Progress:
    if quiet:
        return Silent()
    if log_format == "json":
        return JsonLines()
    if sys.stderr.isatty():
        from rich.console import Console

        return Live(Console(stderr=True))
    return Summary()
