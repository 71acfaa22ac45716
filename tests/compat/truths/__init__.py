"""What Spark really does with a checkpoint when the plan changes: the cases that back the rules."""

from .broken import BROKEN
from .model import Edit, Files, Row, Truth, as_compiled, left_ttl, order, shipment
from .restored import RESTORED

__all__ = ["TRUTHS", "Edit", "Files", "Row", "Truth", "as_compiled", "left_ttl", "order", "shipment"]

TRUTHS = (*RESTORED, *BROKEN)
