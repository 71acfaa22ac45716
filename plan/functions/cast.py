"""Casts, whose target is the type of the call."""

from __future__ import annotations

from .model import SPECIAL
from .registry import declare
from .rules import argument, signature

CAST = declare("CAST", signature("ANY"), argument(0), syntax=SPECIAL, named=False)
TRY_CAST = declare("TRY_CAST", signature("ANY"), argument(0), syntax=SPECIAL, named=False)
REINTERPRET = declare(
    "REINTERPRET", (signature("ANY"), signature("ANY", "ANY")), argument(0), syntax=SPECIAL, named=False
)
