"""The metrics of a running job in Prometheus' format."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import choose_encoder

from .serving import LOOPBACK, serving

if TYPE_CHECKING:
    from ..executor.jobs.progress import QueryProgress

_SINK = ("sink",)
_OPERATOR = ("sink", "operator")
_LAGS = {
    "messages": ("Messages that were not read yet.", ("topic", "partition")),
    "files": ("Known files that were not read yet.", ("path",)),
    "snapshots": ("Snapshots of tables that were not read yet.", ("table",)),
    "bytes": ("Bytes of lines in known files that were not read yet.", ("path",)),
}
"""The help text and the labels (after the sink's) of each metric about unread input, by its unit."""
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Metrics:
    """Counts the batches of all queries; the label ``operator`` is the exec node's name, as in ``flinkplan ttl``."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # saves a time series for each counter
        self.registry = registry = CollectorRegistry()
        self._read = Counter("flinkplan_rows_read", "Rows that were read.", _SINK, registry=registry)
        self._written = Counter("flinkplan_rows_written", "Rows that were written.", _SINK, registry=registry)
        self._dropped = Counter(
            "flinkplan_rows_late", "Rows that were dropped because they were late.", _OPERATOR, registry=registry
        )
        self._batches = Histogram(
            "flinkplan_batch_seconds", "How long batches took.", _SINK, buckets=_SECONDS, registry=registry
        )
        self._watermark = Gauge(
            "flinkplan_watermark_timestamp_seconds", "The watermark, since 1970.", _SINK, registry=registry
        )
        self._behind = Gauge(
            "flinkplan_watermark_lag_seconds",
            "How far the watermark is behind the clock; missing without a watermark and at the end of the input.",
            _SINK,
            registry=registry,
        )
        self._lag = {
            unit: Gauge(f"flinkplan_source_lag_{unit}", text, ("sink", *labels), registry=registry)
            for unit, (text, labels) in _LAGS.items()
        }
        self._updated = Counter("flinkplan_state_rows_updated", "Rows of state written.", _OPERATOR, registry=registry)
        self._rows = Gauge("flinkplan_state_rows", "Rows of state, where counted.", _OPERATOR, registry=registry)
        self._bytes = Gauge("flinkplan_state_bytes", "Memory that state takes.", _OPERATOR, registry=registry)

    def batch_done(self, progress: QueryProgress) -> None:
        """Add a batch to the metrics."""
        if progress.is_idle:
            return
        sink = progress.sink
        self._read.labels(sink).inc(progress.rows_read)
        self._written.labels(sink).inc(progress.rows_written)
        self._batches.labels(sink).observe(progress.duration_ms / 1000)
        if progress.watermark is not None:
            self._watermark.labels(sink).set(_seconds(progress.watermark))
        self._set_lag(progress)
        for operator in progress.operators:
            self._dropped.labels(sink, operator.name).inc(operator.dropped_rows)
            self._updated.labels(sink, operator.name).inc(operator.updated_rows)
            self._bytes.labels(sink, operator.name).set(operator.memory_bytes)
            if operator.state_rows is not None:
                self._rows.labels(sink, operator.name).set(operator.state_rows)

    def _set_lag(self, progress: QueryProgress) -> None:
        watermark = math.inf if progress.watermark is None else _seconds(progress.watermark)
        if math.isfinite(watermark):
            self._behind.labels(progress.sink).set_function(lambda: time.time() - watermark)
        else:
            with suppress(KeyError):
                self._behind.remove(progress.sink)
        for source in progress.lag:
            labels = source.source.rsplit("/", 1) if source.unit == "messages" else [source.source]
            self._lag[source.unit].labels(progress.sink, *labels).set(source.lag)

    def job_ended(self, diagnoses: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
        """Does nothing: metrics are numbers."""

    def ended(self, how: str) -> None:
        """Does nothing: the metrics are served until the process ends."""


def _seconds(watermark: str) -> float:
    """The watermark's text in seconds since 1970; infinite where the input has ended."""
    try:
        return datetime.fromisoformat(watermark).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return math.inf


@contextmanager
def served(metrics: Metrics, port: int, host: str = LOOPBACK) -> Iterator[str]:
    """Serve the metrics on a port of the address ``host``, for 0 on a free one; gives their URL.

    Raises :class:`FlinkplanError` where the port is in use.
    """

    def answer(headers: Mapping[str, str]) -> tuple[bytes, str]:
        encode, kind = choose_encoder(headers.get("Accept", ""))
        return encode(metrics.registry), kind

    with serving(host, port, {"/": answer, "/metrics": answer}, "--metrics-port") as address:
        yield f"{address}metrics"
