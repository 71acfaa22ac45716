"""Who else is told of a job's batches: a page, and those who ask for counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import click

from ..plan.record import Record
from .progress import Progress


class Watched(Record):
    """What the options ask for: a page at ``report``, served at the port ``ui``, counts at ``metrics_port``."""

    report: str | None = None
    ui: int | None = None
    metrics_port: int | None = None

    @contextmanager
    def watching(self) -> Iterator[list[Progress]]:
        """Those to be told; afterwards the page is written, however the job has ended.

        Raises :class:`FlinkplanError` for a port that is taken, and for a page that cannot be written.
        """
        told: list[Progress] = []
        with ExitStack() as stack:
            if self.report is not None or self.ui is not None:
                from .pages.report import Report, served

                page = Report("flinkplan")
                told.append(page)
                if self.ui is not None:
                    click.echo(f"watch it at {stack.enter_context(served(page, self.ui))}", err=True)
                if self.report is not None:
                    stack.callback(page.write, self.report)
            if self.metrics_port is not None:
                from . import metrics

                counts = metrics.Metrics()
                click.echo(f"counts at {stack.enter_context(metrics.served(counts, self.metrics_port))}", err=True)
                told.append(counts)
            yield told
