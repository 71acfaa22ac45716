"""Functions on BITMAP, the type of sets of integers."""

from __future__ import annotations

from .registry import kernel, native

kernel("$BITMAP_BUILD$1", "Bitmaps.build")
kernel("$BITMAP_FROM_BYTES$1", "Bitmaps.check")
kernel("$BITMAP_AND$1", "Bitmaps.and")
kernel("$BITMAP_ANDNOT$1", "Bitmaps.andNot")
kernel("$BITMAP_OR$1", "Bitmaps.or")
kernel("$BITMAP_XOR$1", "Bitmaps.xor")
kernel("$BITMAP_CARDINALITY$1", "Bitmaps.cardinality")
kernel("$BITMAP_TO_ARRAY$1", "Bitmaps.toArray")
kernel("$BITMAP_TO_STRING$1", "Bitmaps.text")
native("$BITMAP_TO_BYTES$1", lambda bitmap: bitmap)
