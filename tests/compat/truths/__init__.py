"""What Spark really does with a checkpoint when the plan changes: the cases that back the rules."""

from .broken import BROKEN
from .model import Files, Row, Truth, order, shipment
from .restored import RESTORED

__all__ = ["ALIKE", "TRUTHS", "Files", "Row", "Truth", "order", "shipment"]

TRUTHS = (*RESTORED, *BROKEN)

ALIKE = {
    "exchange-changed": "stateless-node-added",
    "first-row-emission-changed": "operator-replaced",
    "over-function-changed": "tuning-changed",
    "sink-materializer-changed": "stateful-node-added",
    "normalized-rows-changed": "identity-changed",
    "output-option-changed": "sink-options-changed",
    "source-projection-changed": "source-schema-changed",
    "source-pushdown-changed": "stateless-node-added",
    "stateful-node-version-changed": "tuning-changed",
    "ttl-left-to-job": "ttl-disabled",
    "ttl-shorter-downstream": "ttl-changed",
    "ttl-switched-before-2.2": "ttl-enabled",
}
"""Rules on changes that are, to Spark, of the same kind as another's."""
