"""Flink's watermarks on Spark.

Spark moves its watermark between batches and starts it at 1970; Flink moves it with each row, and rows may be
older than 1970.  So Spark's watermark is kept on a column of our own that holds Flink's watermark after each row,
moved up by :data:`SHIFT`, and each row carries Flink's watermark as it arrived (``LATENESS``).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

SHIFT_MS = 70_000_000_000_000
"""Added to every time that Spark's watermark is compared with, so that no row is older than 1970."""


def watermark_text(spark_watermark: str | None) -> str | None:
    """Flink's watermark, of Spark's as a progress report has it; ``None`` where there is none yet."""
    if spark_watermark is None:
        return None
    shifted = datetime.fromisoformat(spark_watermark.replace("Z", "+00:00")) - timedelta(milliseconds=SHIFT_MS)
    return None if shifted.year < 1 else shifted.astimezone(UTC).isoformat()
