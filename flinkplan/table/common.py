"""Names of ``pyflink.common``."""

from __future__ import annotations

from .rows import Row, RowKind

__all__ = ["Row", "RowKind"]
