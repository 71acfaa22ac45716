"""Streams and windowed streams."""

from __future__ import annotations

from collections.abc import Mapping

from ..plan.errors import PlanError
from ..plan.record import replace
from ..planner.sql import ast, parse_data_type
from ..planner.sql.ast import stream_windows as w
from ..table import TableEnvironment
from ..windowing import Evictor, ProcessAllWindowFunction, ProcessWindowFunction, Trigger, WindowAssigner
from .assigners import DeclaredWindowAssigner, assigner_node
from .evictors import DeclaredEvictor, evictor_node
from .python import python_class
from .sql import Duration, column, expression, identifier, millis, order
from .triggers import DeclaredTrigger, trigger_node


class OutputTag:
    """The name of a side output."""

    def __init__(self, tag_id: str) -> None:
        self.tag_id = tag_id


class DataStream:
    """The rows of a table or view, or the results of windows."""

    def __init__(self, query: ast.Query, late_tag: str | None = None) -> None:
        self._query = query
        self._late_tag = late_tag

    def key_by(self, *columns: str) -> KeyedStream:
        """Group the rows by columns."""
        return KeyedStream(self._query, columns)

    def window_all(self, window_assigner: DeclaredWindowAssigner | WindowAssigner) -> AllWindowedStream:
        """Put all rows into windows, in one task."""
        return AllWindowedStream(self._query, (), window_assigner)

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """The late rows.  Raises :class:`PlanError` for another tag than that of ``side_output_late_data``."""
        body = self._query.body
        if not isinstance(body, w.WindowQuery) or output_tag.tag_id != self._late_tag:
            raise PlanError(
                f"the stream has no side output '{output_tag.tag_id}'",
                hint="name it with side_output_late_data before the window's function",
            )
        return DataStream(ast.Query(replace(body, is_late=True)))

    @property
    def query(self) -> ast.Query:
        """The query of the rows."""
        return self._query


class KeyedStream:
    """The rows of a stream, grouped by key."""

    def __init__(self, query: ast.Query, keys: tuple[str, ...]) -> None:
        self._query = query
        self._keys = keys

    def window(self, window_assigner: DeclaredWindowAssigner | WindowAssigner) -> WindowedStream:
        """Put the rows of each key into windows."""
        return WindowedStream(self._query, self._keys, window_assigner)


class WindowedStream:
    """Rows in windows; configure the windows, then call one function."""

    def __init__(
        self, query: ast.Query, keys: tuple[str, ...], assigner: DeclaredWindowAssigner | WindowAssigner
    ) -> None:
        self._query = query
        self._keys = keys
        self._assigner = assigner_node(assigner)
        self._trigger: w.Trigger | None = None
        self._evictor: w.Evictor | None = None
        self._lateness = 0
        self._late_tag: str | None = None

    def trigger(self, trigger: DeclaredTrigger | Trigger, *, uses_processing_time: bool = False) -> WindowedStream:
        """Use this trigger instead of the assigner's default.

        ``uses_processing_time`` says that a user-defined trigger also sets processing-time timers.
        """
        self._trigger = trigger_node(trigger, uses_processing_time)
        return self

    def evictor(self, evictor: DeclaredEvictor | Evictor) -> WindowedStream:
        """Use this evictor."""
        self._evictor = evictor_node(evictor)
        return self

    def allowed_lateness(self, time: Duration) -> WindowedStream:
        """Keep windows for this time after their end."""
        self._lateness = millis(time)
        if self._lateness < 0:
            raise PlanError("a lateness cannot be negative", hint="to have fewer late rows, delay the watermark")
        return self

    def side_output_late_data(self, output_tag: OutputTag) -> WindowedStream:
        """Keep the rows that are too late for all their windows, for ``get_side_output``."""
        self._late_tag = output_tag.tag_id
        return self

    def reduce(self, columns: Mapping[str, str] | None = None, /, **named: str) -> DataStream:
        """Combine the rows of a window: columns are expressions of two rows ``a`` and ``b``; others are taken from
        ``a``."""
        return self._apply(w.Reduce(_values({**(columns or {}), **named})))

    def aggregate(self, columns: Mapping[str, str] | None = None, /, **named: str) -> DataStream:
        """Aggregate the rows: columns are expressions of the key, of aggregate functions and of the window."""
        return self._apply(w.AggregateWindow(_values({**(columns or {}), **named})))

    def elements(self, first: int | None = None, last: int | None = None, by: tuple[str, ...] = ()) -> DataStream:
        """Emit the rows themselves: all of them, or the first or last ones in an order."""
        limit = first if last is None else last
        return self._apply(w.Elements(limit, last is not None, tuple(map(order, by))))

    def process(
        self,
        process_function: ProcessWindowFunction | ProcessAllWindowFunction,
        columns: Mapping[str, str] | None = None,
        /,
        **named: str,
    ) -> DataStream:
        """Emit the rows that a Python class computes from a window; ``columns`` are their names and types."""
        declared = {**(columns or {}), **named}
        types = tuple(ast.PhysicalColumn(identifier(name), parse_data_type(text)) for name, text in declared.items())
        return self._apply(w.Process(python_class(process_function), types))

    def fold(self, *arguments: object) -> DataStream:
        """Not supported.  Raises :class:`PlanError`, which names the alternatives."""
        raise PlanError(
            "'fold' is not supported: its results cannot be merged for sessions, and Flink has removed it",
            hint="use aggregate, or process with a Python class",
        )

    def _apply(self, function: w.WindowFunction) -> DataStream:
        body = w.WindowQuery(
            _source(self._query),
            tuple(map(column, self._keys)),
            self._assigner,
            self._trigger,
            self._evictor,
            self._lateness,
            function,
            has_late_output=self._late_tag is not None,
        )
        return DataStream(ast.Query(body), self._late_tag)


class AllWindowedStream(WindowedStream):
    """All rows of a stream in windows, without keys."""


def to_data_stream(environment: TableEnvironment, table: str) -> DataStream:
    """The rows of a table or view.  Raises an error where there is none."""
    name = ast.Name(tuple(map(identifier, table.split("."))))
    if table.split(".")[-1] not in environment.list_tables():
        raise PlanError(f"there is no table or view '{table}'")
    return DataStream(ast.Query(ast.ExplicitTable(name)))


def create_temporary_view(environment: TableEnvironment, path: str, stream: DataStream) -> None:
    """Create a view of a stream, for SQL and other streams.  Raises an error for an invalid stream."""
    environment.execute_statement(ast.CreateView(ast.Name((identifier(path),)), stream.query, temporary=True))


def _values(columns: Mapping[str, str]) -> tuple[w.NamedValue, ...]:
    return tuple(w.NamedValue(identifier(name), expression(text)) for name, text in columns.items())


def _source(query: ast.Query) -> ast.TableExpression:
    body = query.body
    return ast.TableRef(body.name) if isinstance(body, ast.ExplicitTable) else ast.DerivedTable(query)
