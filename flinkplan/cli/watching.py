"""The observers of a running job that options ask for: the report page and the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from ..plan.record import Record
from .progress import Progress


class Watched(Record):
    """The options: a page written to ``report`` or served on the port ``ui``, metrics served on ``metrics_port``.

    ``ui_host`` and ``metrics_host`` are the addresses to listen at; ``None`` is the loopback address.
    """

    report: str | None = None
    ui: int | None = None
    metrics_port: int | None = None
    ui_host: str | None = None
    metrics_host: str | None = None

    @property
    def is_on(self) -> bool:
        """Whether there is an observer."""
        return self.report is not None or self.ui is not None or self.metrics_port is not None

    @contextmanager
    def watching(self, diagnose: Callable[[], Sequence[Mapping[str, Any]]] = list) -> Iterator[list[Progress]]:
        """The observers, which must be notified of each batch; on exit the page is written, even after a failure.

        ``diagnose`` tells why rows do not come out of the jobs that run.

        Raises :class:`FlinkplanError` for a port that is in use, and for a page that cannot be written.
        """
        for host, port, option in ((self.ui_host, self.ui, "ui"), (self.metrics_host, self.metrics_port, "metrics")):
            if host is not None and port is None:
                port_option = "--ui" if option == "ui" else "--metrics-port"
                raise click.UsageError(f"--{option}-host needs {port_option}.")
        observers: list[Progress] = []
        with ExitStack() as stack:
            if self.report is not None or self.ui is not None:
                from .pages import report

                page = report.Report("flinkplan", diagnose)
                observers.append(page)
                if self.ui is not None:
                    address = stack.enter_context(report.served(page, self.ui, _address(self.ui_host)))
                    click.echo(f"watch it at {address}", err=True)
                if self.report is not None:
                    stack.callback(page.write, self.report)
            if self.metrics_port is not None:
                from . import metrics

                counters = metrics.Metrics()
                address = stack.enter_context(metrics.served(counters, self.metrics_port, _address(self.metrics_host)))
                click.echo(f"metrics at {address}", err=True)
                observers.append(counters)
            yield observers


def _address(host: str | None) -> str:
    """The address to listen at; a warning is printed where other machines can reach it."""
    from .serving import LOOPBACK, is_loopback

    if host is None or is_loopback(host):
        return host or LOOPBACK
    warning = click.style("warning: ", fg="yellow", bold=True)
    click.echo(f"{warning}everybody who can reach {host} can read this: there is no login", err=True)
    return host
