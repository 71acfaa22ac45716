"""Windows of the DataStream API, which SQL text cannot express: a YAML pipeline or the fluent API makes these nodes.

Flink's assigners, triggers and evictors are declared in ``plan/specs/stream_windows.py``; a node refers to such a
declaration and gives values for its fields.  Durations are milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ....plan.record import Json
from .core import Identifier, Node
from .expressions import ColumnRef, Expression, SortItem

if TYPE_CHECKING:
    from ....plan import specs
    from .queries import TableExpression
    from .statements import PhysicalColumn


class PythonClass(Node):
    """A class by its import path, ``module:Class``, with the arguments of its constructor."""

    path: str
    arguments: Json


class WindowArgument(Node):
    """The value of a field of a declared part: a duration (milliseconds), number, flag, expression or trigger."""

    name: str
    value: Expression | Trigger | int | float | bool


class DeclaredAssigner(Node):
    """One of Flink's assigners; ``column`` is the event time where the rows have several."""

    declaration: type[specs.WindowAssigner]
    arguments: tuple[WindowArgument, ...] = ()
    column: ColumnRef | None = None

    @property
    def is_event_time(self) -> bool:
        """Whether its windows end by the watermark."""
        return self.declaration.is_event_time


class PythonAssigner(Node):
    """A Python class that assigns windows, which merge if ``merges``; ``column`` as for Flink's assigners."""

    python: PythonClass
    is_event_time: bool = True
    merges: bool = False
    column: ColumnRef | None = None


WindowAssigner: TypeAlias = DeclaredAssigner | PythonAssigner


class DeclaredTrigger(Node):
    """One of Flink's triggers."""

    declaration: type[specs.Trigger]
    arguments: tuple[WindowArgument, ...] = ()


class PythonTrigger(Node):
    """A Python class that fires windows, and sets timers of processing time if ``uses_clock``."""

    python: PythonClass
    uses_clock: bool = False


Trigger: TypeAlias = DeclaredTrigger | PythonTrigger


class DeclaredEvictor(Node):
    """One of Flink's evictors; it evicts after the function if ``after``, and before it otherwise."""

    declaration: type[specs.Evictor]
    arguments: tuple[WindowArgument, ...] = ()
    after: bool = False


class PythonEvictor(Node):
    """A Python class that evicts rows."""

    python: PythonClass


Evictor: TypeAlias = DeclaredEvictor | PythonEvictor


class NamedValue(Node):
    """A column and what it is computed by."""

    name: Identifier
    expression: Expression


class Reduce(Node):
    """Of two rows, ``a`` and ``b``, one: columns that are not named keep the value of ``a``."""

    columns: tuple[NamedValue, ...]


class AggregateWindow(Node):
    """Columns by expressions of the key, of aggregate functions and of the window."""

    columns: tuple[NamedValue, ...]


class Elements(Node):
    """The rows themselves: all, or the first ones, or the last ones, of an order."""

    limit: int | None = None
    from_end: bool = False
    order_by: tuple[SortItem, ...] = ()


class Process(Node):
    """Rows of these columns, which a Python class makes of those of the window."""

    python: PythonClass
    columns: tuple[PhysicalColumn, ...]


WindowFunction: TypeAlias = Reduce | AggregateWindow | Elements | Process


class WindowQuery(Node):
    """What a window operator makes of a table's rows.

    ``has_late_output``: its late rows can be read; ``is_late``: this reads them, as they came.
    """

    source: TableExpression
    keys: tuple[ColumnRef, ...]
    assigner: WindowAssigner
    trigger: Trigger | None
    evictor: Evictor | None
    allowed_lateness: int
    function: WindowFunction
    has_late_output: bool = False
    is_late: bool = False
