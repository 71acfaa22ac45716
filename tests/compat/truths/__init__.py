"""What Spark really does with a checkpoint when the plan changes: the cases that back the rules."""

from .broken import BROKEN
from .model import Files, Row, Truth, order, shipment
from .restored import RESTORED

__all__ = ["ALIKE", "TRUTHS", "Files", "Row", "Truth", "order", "shipment"]

TRUTHS = (*RESTORED, *BROKEN)

ALIKE = {
    "exchange-changed": "stateless-node-added",
    "over-function-changed": "tuning-changed",
    "normalized-rows-changed": "identity-changed",
    "stateful-node-version-changed": "tuning-changed",
    "ttl-switched-before-2.2": "ttl-enabled",
}
"""Rules on changes that are, to Spark, of the same kind as another's."""
