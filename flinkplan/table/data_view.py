"""Lists and maps inside accumulators."""

from __future__ import annotations

from ..udf.data_view import DataView, ListView, MapView

__all__ = ["DataView", "ListView", "MapView"]
