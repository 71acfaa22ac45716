"""The views of accumulators: values of aggregate functions that Flink keeps in states beside the accumulator's row.

Sources: Flink's ``DataViewUtils``, and the accumulator classes of its aggregate functions.
"""

from __future__ import annotations

from enum import Enum

from ..functions import aggregate
from ..record import Record
from ..specs import AggregateCall


class Holding(Enum):
    """How a view holds the values of a group."""

    COUNTS = "how often each value occurs"
    """A map from each value to its number."""
    LIST = "the values in order"
    """A list."""
    BY_ORDER = "the values by the order in which they came"
    """A map from a growing number to the list of the values that came with it."""
    ENTRIES = "values by their keys"
    """A map from each key to its value."""


class View(Record):
    """What a call's accumulator holds in views: its values in that called ``name``.

    ``others`` are views with the same values in another form, ``pending`` is that of values which have been taken back
    before they came.
    """

    name: str
    holding: Holding
    others: tuple[str, ...] = ()
    pending: str = ""


_COUNTED = View("map", Holding.COUNTS)
_ORDERED = View("orderToValueMap", Holding.BY_ORDER, others=("valueToOrderMap",))
_LISTED = View("list", Holding.LIST, pending="retractList")

_RETRACTING = {
    aggregate.MIN.internal_name: _COUNTED,
    aggregate.MAX.internal_name: _COUNTED,
    aggregate.FIRST_VALUE.internal_name: _ORDERED,
    aggregate.LAST_VALUE.internal_name: _ORDERED,
    aggregate.LISTAGG.internal_name: _LISTED,
}
_ALWAYS = {
    aggregate.COLLECT.internal_name: _COUNTED,
    aggregate.PERCENTILE.internal_name: View("valueCount", Holding.COUNTS),
    **{function.internal_name: View("map", Holding.ENTRIES) for function in aggregate.JSON_OBJECTAGG.values()},
    **{function.internal_name: View("list", Holding.LIST) for function in aggregate.JSON_ARRAYAGG.values()},
}


def view_of(call: AggregateCall, retracts: bool) -> View | None:
    """The view of a call's accumulator; ``None`` where the accumulator is all in its row.

    ``retracts``: the call takes values back.
    """
    name = call.internal_name or ""
    return _ALWAYS.get(name) or (_RETRACTING.get(name) if retracts else None)


def view_state(call: int, name: str) -> str:
    """The name of the state with the view of the call of this number."""
    return f"agg{call}${name}"
