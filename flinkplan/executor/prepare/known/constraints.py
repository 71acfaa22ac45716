"""The options by which a sink enforces the constraints of its table, and what of them is refused.

Source: Flink's options ``table.exec.sink.not-null-enforcer``, ``table.exec.sink.type-length-enforcer`` and
``table.exec.sink.nested-constraint-enforcer``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.nodes import Sink
from ....plan.session import option_of
from ...errors import TableError

NOT_NULL = "table.exec.sink.not-null-enforcer"
LENGTH = "table.exec.sink.type-length-enforcer"
NESTED = "table.exec.sink.nested-constraint-enforcer"


def check_enforcers(node: Sink, options: Mapping[str, str]) -> None:
    """Raise :class:`TableError` where elements of collections would have to be cut, which Flink refuses."""
    length, nested = (option_of(node, key, options) for key in (LENGTH, NESTED))
    if length == "TRIM_PAD" and nested == "ROWS_AND_COLLECTIONS":
        raise TableError(
            f"'{LENGTH}' = 'TRIM_PAD' does not go with '{NESTED}' = 'ROWS_AND_COLLECTIONS'",
            hint=f"set '{LENGTH}' to 'ERROR', or '{NESTED}' to 'ROWS'",
        )
