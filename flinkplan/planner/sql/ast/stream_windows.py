"""Windows of the DataStream API, which no SQL text has: a spec or the fluent API makes these nodes.

Durations are milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ....plan.record import Json
from .core import Identifier, Node
from .expressions import ColumnRef, Expression, SortItem

if TYPE_CHECKING:
    from .queries import TableExpression
    from .statements import PhysicalColumn


class PythonClass(Node):
    """A class by its import path, ``module:Class``, and what it is made with."""

    path: str
    arguments: Json


class WindowAssigner(Node):
    """``kind`` is tumbling, sliding, session, global or python.

    ``size`` is the gap of a session that no row says itself, ``column`` the event time where the rows have several.
    ``merges``: the windows of a Python class do.
    """

    kind: str
    size: int = 0
    slide: int = 0
    offset: int = 0
    gap: Expression | None = None
    is_event_time: bool = True
    column: ColumnRef | None = None
    python: PythonClass | None = None
    merges: bool = False


class SimpleTrigger(Node):
    """``kind`` is event-time, processing-time, never or end-of-stream."""

    kind: str


class CountTrigger(Node):
    """After ``count`` rows."""

    count: int


class ContinuousTrigger(Node):
    """At each interval of event time, or of the clock."""

    interval: int
    is_event_time: bool


class DeltaTrigger(Node):
    """When ``delta`` of the row of the last firing, ``a``, and a new one, ``b``, is above the threshold."""

    delta: Expression
    threshold: float


class PurgingTrigger(Node):
    """As another one, but firings drop the rows."""

    nested: Trigger


class TimeoutTrigger(Node):
    """As another one, and after so long by the clock."""

    nested: Trigger
    timeout: int
    resets: bool = False
    clears: bool = True


class PythonTrigger(Node):
    """As a Python class says, which sets timers of the clock as well where ``uses_clock``."""

    python: PythonClass
    uses_clock: bool = False


Trigger: TypeAlias = (
    SimpleTrigger | CountTrigger | ContinuousTrigger | DeltaTrigger | PurgingTrigger | TimeoutTrigger | PythonTrigger
)


class CountEvictor(Node):
    """Keeps the last ``count`` rows."""

    count: int
    after: bool = False


class TimeEvictor(Node):
    """Keeps the rows that are less than ``size`` older than the latest."""

    size: int
    after: bool = False


class DeltaEvictor(Node):
    """Keeps the rows ``a`` whose ``delta`` to the last one, ``b``, is below the threshold."""

    delta: Expression
    threshold: float
    after: bool = False


class PythonEvictor(Node):
    """As a Python class says."""

    python: PythonClass


Evictor: TypeAlias = CountEvictor | TimeEvictor | DeltaEvictor | PythonEvictor


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
