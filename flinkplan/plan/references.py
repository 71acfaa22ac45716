"""What the numbers and expressions in a node's fields refer to; each field is annotated with it."""

from __future__ import annotations

from enum import Enum
from typing import Annotated


class Input(Enum):
    """The row whose columns the numbers of a field index and its expressions read."""

    ALL = "all"
    """All inputs side by side."""
    LEFT = "left"
    RIGHT = "right"
    EACH = "each"
    """Each input in turn: the field has one item for each input."""
    CALLS = "calls"
    """The same row as the field with the node's aggregate calls."""
    BEFORE = "before"
    """The input of the previous phase of the aggregation; the node's own input where there is no previous phase."""
    CONSTANTS = "constants"
    """All inputs side by side, followed by the node's constants."""
    BOUND = "bound"
    """The columns of the query below all OVER windows, followed by the node's constants; see ``OverSpec``."""
    PAIR = "pair"
    """Two rows of the input side by side."""
    TABLE = "table"
    """A table's row."""
    FUNCTION = "function"
    """The result of a table function or of a lookup, after the input's columns or alone."""
    NONE = "none"
    """No row: the numbers are not positions, and the expressions read no columns."""


class Mark(Enum):
    """Further properties of a field."""

    PERHAPS = "perhaps"
    """-1 stands for no column."""
    KEY = "key"
    """It lists the node's keys, or one value for each key, in any order, which is the same in all such fields."""
    CALL = "call"
    """It lists the node's aggregate calls, in any order, which is the same in all fields marked ``BY_CALL``."""
    BY_CALL = "by-call"
    """It lists one value for each of the node's aggregate calls."""
    DERIVED = "derived"
    """It follows from other fields, such as the position of a column or the types of other columns."""
    TUNING = "tuning"
    """It affects how fast Flink computes the results, and not the results."""


Number = Annotated[int, Input.NONE]
"""A number that is not the position of a column."""
Keys = Annotated[tuple[int, ...], Input.ALL]
"""Columns of the input."""
OwnKeys = Annotated[tuple[int, ...], Input.ALL, Mark.KEY]
"""The key columns of the node, as positions in the input and in any order."""
