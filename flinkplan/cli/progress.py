"""How ``execute`` and ``run`` show the progress of a job."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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


_MOST_DIAGNOSES = 5
"""How many are printed at the end of a job; 'flinkplan doctor' prints all."""


class Progress(Protocol):
    """An observer of a job: called for each batch while it runs, and once when it has ended."""

    def batch_done(self, progress: QueryProgress) -> None:
        """Called when a batch has been written."""

    def job_ended(self, diagnoses: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
        """Called when a job has ended, with what tells why rows did not come out of it, as JSON has it."""

    def ended(self, how: str) -> None:
        """Called when the jobs have ended; ``how`` is ``finished``, ``stopped`` or ``failed``."""


class Silent:
    """Shows nothing."""

    def batch_done(self, progress: QueryProgress) -> None:
        pass

    def job_ended(self, diagnoses: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
        pass

    def ended(self, how: str) -> None:
        pass


def as_json(progress: QueryProgress) -> dict[str, Any]:
    """The fields of a line about a batch, or about rows that wait."""
    fields = to_builtins(progress)
    event = "waiting" if fields.pop("is_idle") else "batch"
    for optional in ("waiting", "lag", "inputs"):
        if not fields[optional]:
            del fields[optional]
    for operator in fields["operators"]:
        for optional in ("rows_in", "rows_out", "lateness_ms"):
            if operator[optional] is None:
                del operator[optional]
    return {"event": event, **fields, "rows_per_second": round(progress.rows_per_second or 0, 1)}


class SinkTotals(Struct):
    """The totals of a sink's query so far."""

    batches: int = 0
    read: int = 0
    written: int = 0
    dropped: int = 0
    last: QueryProgress | None = None

    def add(self, progress: QueryProgress) -> None:
        """Add a batch."""
        self.batches += not progress.is_idle
        self.read += progress.rows_read
        self.written += progress.rows_written
        self.dropped += progress.rows_dropped
        self.last = progress


class Totals:
    """Adds up the batches of each sink."""

    def __init__(self) -> None:
        self.totals: dict[str, SinkTotals] = {}
        self.diagnoses: list[Mapping[str, Any]] = []
        """Those of sinks into which nothing was written."""
        self.started = time.monotonic()

    def batch_done(self, progress: QueryProgress) -> None:
        self.totals.setdefault(progress.sink, SinkTotals()).add(progress)

    def job_ended(self, diagnoses: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
        idle = {sink for sink, total in self.totals.items() if not total.written}
        if idle or not self.totals:
            self.diagnoses += [each for each in diagnoses() if each["sink"] in idle or not self.totals]


class JsonLines(Totals):
    """Prints one JSON object for each batch to standard output, and one at the end."""

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
        for each in self.diagnoses:
            _print({"event": "diagnosis", **each})
        duration = round(1000 * (time.monotonic() - self.started))
        _print({"event": how, "time": now, "duration_ms": duration, "sinks": sinks})


def _print(event: dict[str, Any]) -> None:
    click.echo(json_text(event))


class Summary(Totals):
    """Prints a line for each sink to standard error when the job has ended."""

    def ended(self, how: str) -> None:
        for sink, total in self.totals.items():
            batches = f"{total.batches} batch{'' if total.batches == 1 else 'es'}"
            late = f", {total.dropped:,} too late" if total.dropped else ""
            click.echo(
                f"{one_line(sink)}: {total.read:,} rows read, {total.written:,} written{late} in {batches}", err=True
            )
        if self.totals or how != "failed":
            click.echo(f"{how} after {time.monotonic() - self.started:.1f} s", err=True)
        if self.diagnoses:
            from .doctor import print_diagnoses

            click.echo("nothing was written:", err=True)
            print_diagnoses(self.diagnoses[:_MOST_DIAGNOSES], err=True)


class Live(Summary):
    """Shows a live table on a terminal, and the summary when the job has ended."""

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
            row_counts = [o.state_rows for o in last.operators if o.state_rows is not None]
            state = f"{sum(row_counts):,}" if row_counts else ""
            late = f"{total.dropped:,}" if total.dropped else ""
            cells = (f"{last.batch}", f"{total.read:,}", f"{total.written:,}", rate, last.watermark or "", state, late)
            table.add_row(Text(one_line(sink)), *cells, style="bold")
            for operator in last.operators:
                table.add_row(
                    Text(f"  {one_line(operator.name)}"), "", "", f"{operator.updated_rows:,}", "", "",
                    "" if operator.state_rows is None else f"{operator.state_rows:,}",
                    f"{operator.dropped_rows:,}",
                )  # fmt: skip
            for input in last.waiting:
                table.add_row(Text(one_line(f"  {input.waiting:,} {input.source} wait for {input.waits_for}")))
        return table


class Observers:
    """Calls several observers."""

    def __init__(self, *observers: Progress) -> None:
        self._observers = observers

    def batch_done(self, progress: QueryProgress) -> None:
        for observer in self._observers:
            observer.batch_done(progress)

    def job_ended(self, diagnoses: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
        for observer in self._observers:
            observer.job_ended(diagnoses)

    def ended(self, how: str) -> None:
        for observer in self._observers:
            observer.ended(how)


@contextmanager
def shown(log_format: str, quiet: bool, *others: Progress) -> Iterator[Progress]:
    """The observer that shows progress as the options say, together with other observers."""
    progress = Observers(_progress(log_format, quiet), *others)
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
