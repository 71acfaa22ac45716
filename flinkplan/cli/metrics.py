"""What a running job counts, in Prometheus' format."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import choose_encoder

from .serving import LOOPBACK, serving

if TYPE_CHECKING:
    from ..executor.jobs.progress import QueryProgress

_SINK = ("sink",)
_OPERATOR = ("sink", "operator")
_LAGS = {
    "messages": ("Messages that are still to be read.", ("topic", "partition")),
    "files": ("Files that were found and are still to be read.", ("path",)),
    "bytes": ("Bytes of lines in files that were found and are still to be read.", ("path",)),
}
"""What is counted of sources that is still to be read, by its unit, and the labels behind the sink's."""
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Metrics:
    """Counts the batches of all queries; ``operator`` is the exec node's name, as in ``flinkplan ttl``."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a series more for each counter, which nobody asks for
        self.registry = registry = CollectorRegistry()
        self._read = Counter("flinkplan_rows_read", "Rows that went in.", _SINK, registry=registry)
        self._written = Counter("flinkplan_rows_written", "Rows that came out.", _SINK, registry=registry)
        self._dropped = Counter("flinkplan_rows_late", "Rows that came too late.", _OPERATOR, registry=registry)
        self._batches = Histogram(
            "flinkplan_batch_seconds", "How long batches took.", _SINK, buckets=_SECONDS, registry=registry
        )
        self._watermark = Gauge(
            "flinkplan_watermark_timestamp_seconds", "The watermark, since 1970.", _SINK, registry=registry
        )
        self._behind = Gauge(
            "flinkplan_watermark_lag_seconds",
            "How far the watermark is behind the clock now; nothing without one, and at the end of the input.",
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
        """Count a batch."""
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
        for each in progress.lag:
            place = each.source.rsplit("/", 1) if each.unit == "messages" else [each.source]
            self._lag[each.unit].labels(progress.sink, *place).set(each.lag)

    def ended(self, how: str) -> None:
        """The counts stay until the process ends."""


def _seconds(watermark: str) -> float:
    """The watermark's text as a number; endless where the input has ended."""
    try:
        return datetime.fromisoformat(watermark).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return math.inf


@contextmanager
def served(metrics: Metrics, port: int, host: str = LOOPBACK) -> Iterator[str]:
    """Let them be read at a port of this machine, or of the address ``host``, at a free one for 0; the address.

    Raises :class:`FlinkplanError` where the port is taken.
    """

    def answer(headers: Mapping[str, str]) -> tuple[bytes, str]:
        encode, kind = choose_encoder(headers.get("Accept", ""))
        return encode(metrics.registry), kind

    with serving(host, port, {"/": answer, "/metrics": answer}, "--metrics-port") as address:
        yield f"{address}metrics"
