"""What the numbers and expressions in a node's fields refer to, said by an annotation of each field."""

from __future__ import annotations

from enum import Enum
from typing import Annotated


class Input(Enum):
    """The row whose columns a field's numbers are, and its expressions read."""

    ALL = "all"
    """All inputs side by side."""
    LEFT = "left"
    RIGHT = "right"
    EACH = "each"
    """Each input in turn: one item of the field for each."""
    CALLS = "calls"
    """What the aggregate calls read, which the field says that holds them."""
    BEFORE = "before"
    """The input of the phase of the aggregation before this one."""
    CONSTANTS = "constants"
    """All inputs side by side, and the node's constants behind them."""
    PAIR = "pair"
    """Two rows of the input side by side."""
    TABLE = "table"
    """A table's row."""
    FUNCTION = "function"
    """What a table function yields, or a table that is looked up: behind the input's columns, or alone."""
    NONE = "none"
    """No row: other numbers than positions, and expressions that read nothing."""


class Mark(Enum):
    """What else there is to say of a field."""

    PERHAPS = "perhaps"
    """-1 stands for no column."""
    KEY = "key"
    """It lists what the node goes by, or something of each: the order is free, and the same in all such fields."""
    CALL = "call"
    """It lists the node's aggregate calls: the order is free, and the same in fields ``BY_CALL``."""
    BY_CALL = "by-call"
    """It lists something of each of the node's aggregate calls."""
    DERIVED = "derived"
    """It follows from others, such as where a column stands, or the types of columns nearby."""


Number = Annotated[int, Input.NONE]
"""A number that is no column's."""
Keys = Annotated[tuple[int, ...], Input.ALL]
"""Columns of the input."""
OwnKeys = Annotated[tuple[int, ...], Input.ALL, Mark.KEY]
"""The columns of the input that the node goes by, in any order."""
