"""Tables that are grouped, or have windows, of which columns are yet to be selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from ..plan.rex import InputRef, RexNode, transform
from ..plan.specs import AggregateCall
from ..planner.algebra.calls import python_calls
from ..planner.algebra.logical import TableAggregate
from ..planner.algebra.rel import Rel
from .expression import Expression
from .host import Relational
from .naming import ValidationError
from .relations import Replacer, aggregated, column_names, named_explicitly, project
from .resolving import Resolver
from .udf import DeclaredFunction, DeclaredTableAggregate
from .window import GroupWindow, OverWindow


class Derivable(Relational):
    """A table of which others are made."""

    def _resolver(self) -> Resolver:
        """What resolves expressions over the table's columns."""
        raise NotImplementedError

    def _table(self: T, rel: Rel) -> T:
        """Another table of the same environment."""
        raise NotImplementedError

    def _projected(self: T, resolver: Resolver, fields: Sequence[Any], names: Sequence[str]) -> T:
        return self._table(project(self.rel, resolver.all(fields), names))

    def _selected(self: T, fields: Sequence[Any]) -> T:
        resolver = self._resolver()
        listed = list(resolver.expanded(fields))
        return self._projected(resolver, listed, column_names(listed))

    def _explicitly(self: T, resolver: Resolver, listed: Sequence[Any]) -> T:
        """A projection that keeps aliases as calls of AS, as Flink does over windows."""
        names = column_names(listed)
        own = [f._args[0] if isinstance(f, Expression) and f._name == "col" else None for f in listed]
        return self._table(project(self.rel, named_explicitly(resolver.all(listed), names, own), names))


T = TypeVar("T", bound=Derivable)


class GroupedTable(Generic[T]):
    """A table whose rows are grouped."""

    def __init__(self, table: T, groups: Sequence[Any]) -> None:
        self._table = table
        self._groups = tuple(groups)

    def select(self, *fields: Any) -> T:
        """Compute columns of the keys and of aggregates."""
        resolver = self._table._resolver()
        replacer = Replacer(resolver.context)
        replaced = [replacer(f) for f in fields]
        rel = aggregated(self._table.rel, resolver, self._groups, replacer.aggregates.values())
        grouped = self._table._table(rel)
        above = grouped._resolver()
        listed = list(above.expanded(replaced))
        return grouped._projected(above, listed, column_names(listed))

    def aggregate(self, func: Any) -> AggregatedTable[T]:
        """The columns of an aggregate function's result; a declared function takes the whole row."""
        call = _aggregate_call(func)
        return AggregatedTable(self._table, self._groups, call)

    def flat_aggregate(self, func: Any) -> AggregatedTable[T]:
        """The rows that a table aggregate function emits for each group; they cannot be in a plan, as in Flink.

        Raises :class:`ValidationError` for another function.
        """
        declared = func._args[0] if isinstance(func, Expression) and func._name == "call" else func
        if isinstance(declared, DeclaredFunction) and not isinstance(declared, DeclaredTableAggregate):
            raise _no_table_aggregate()
        return AggregatedTable(self._table, self._groups, _aggregate_call(func), emits_rows=True)


def _aggregate_call(func: Any) -> Expression:
    if isinstance(func, DeclaredFunction):
        func.takes_row = True
        func = func(Expression("col", "*"))
    call: Expression = func
    return call


def _table_aggregate(source: Rel, grouping: tuple[int, ...], calls: tuple[AggregateCall, ...]) -> TableAggregate:
    """The relation of a call.  Raises :class:`ValidationError` where its function is no table aggregate function."""
    (call,) = calls
    functions = python_calls(calls)
    if not functions or not functions[0].declaration.emits_table:
        raise _no_table_aggregate()
    fields = call.type.field_names if call.type.fields else (call.name or "",)
    return TableAggregate(input=source, grouping=tuple(sorted(grouping)), call=call, fields=fields)


def _no_table_aggregate() -> ValidationError:
    return ValidationError("flat_aggregate takes a table aggregate function", hint="declare it with udtaf")


class AggregatedTable(Generic[T]):
    """A table with the result of one aggregate function for each group."""

    def __init__(
        self,
        table: T,
        groups: Sequence[Any],
        call: Expression,
        window: GroupWindow | None = None,
        emits_rows: bool = False,
    ) -> None:
        self._table = table
        self._emits_rows = emits_rows
        self._groups = groups
        self._call = call
        self._window = window

    def select(self, *fields: Any) -> T:
        """Choose among the keys and the columns of the result."""
        from .windowing import window_aggregated

        resolver = self._table._resolver()
        aliases: Sequence[str] = ()
        call = self._call
        if call._name == "as":
            aliases, call = call._args[1:], call._args[0]
        if self._emits_rows:
            rel = aggregated(self._table.rel, resolver, self._groups, [("TMP_0", call)], _table_aggregate)
            if not aliases:
                return self._table._table(rel)._selected(fields)
            keys = len(self._groups)
            if len(aliases) != rel.width - keys:
                raise ValidationError(f"flat_aggregate gives {rel.width - keys} columns, {len(aliases)} are named")
            named = zip((*rel.names[:keys], *aliases), rel.names, strict=True)
            return self._chosen(rel, {alias: Expression("col", name) for alias, name in named}, fields)
        if self._window is None:
            rel = aggregated(self._table.rel, resolver, self._groups, [("TMP_0", call)])
            replaced: list[Any] = list(fields)
        else:
            replacer = Replacer(resolver.context, windows=[self._window.name or ""])
            replaced = [replacer(f) for f in fields]
            properties = list(replacer.properties.values())
            rel = window_aggregated(
                self._table.rel, resolver, self._window, self._groups, [("TMP_0", call)], properties
            )
        at = rel.names.index("TMP_0")
        result = rel.types[at]
        columns = {n: Expression("col", n) for n in rel.names if n != "TMP_0"}
        names = aliases or (result.field_names if result.fields else ("TMP_0",))
        for i, name in enumerate(names):
            columns[name] = (
                Expression("get", Expression("col", "TMP_0"), i) if result.fields else Expression("col", "TMP_0")
            )
        return self._chosen(rel, columns, replaced)

    def _chosen(self, rel: Rel, columns: dict[str, Expression], fields: Sequence[Any]) -> T:
        """A projection over columns that are named explicitly, in one with the fields that are chosen of them."""
        inner = self._table._table(rel)._resolver()
        exprs = inner.all(columns.values())
        flattened = named_explicitly(exprs, list(columns), [None] * len(exprs))
        renamed = Resolver(inner.context, list(columns), [r.type for r in flattened])
        listed = list(renamed.expanded(fields))
        chosen = _inlined(renamed.all(listed), flattened)
        return self._table._table(project(rel, chosen, column_names(listed)))


def _inlined(exprs: Sequence[RexNode], below: Sequence[RexNode]) -> list[RexNode]:
    return [transform(e, lambda r: below[r.index] if isinstance(r, InputRef) else r) for e in exprs]


class GroupWindowedTable(Generic[T]):
    """A table whose rows are assigned to windows."""

    def __init__(self, table: T, window: GroupWindow) -> None:
        self._table = table
        self._window = window

    def group_by(self, *fields: Any) -> WindowGroupedTable[T]:
        """Group the rows by the window's alias, and perhaps by keys."""
        name = self._window.name
        keys = [f for f in fields if not (isinstance(f, Expression) and f._name == "col" and f._args[0] == name)]
        if len(keys) == len(fields):
            raise ValidationError(f"the table is not grouped by its window '{name}'", hint=f"add col('{name}')")
        return WindowGroupedTable(self._table, self._window, keys)


class WindowGroupedTable(Generic[T]):
    """A table whose rows are grouped by windows."""

    def __init__(self, table: T, window: GroupWindow, groups: Sequence[Any]) -> None:
        self._table = table
        self._window = window
        self._groups = groups

    def select(self, *fields: Any) -> T:
        """Compute columns of the keys, of aggregates and of the window's bounds."""
        from .windowing import window_aggregated

        resolver = self._table._resolver()
        replacer = Replacer(resolver.context, windows=[self._window.name or ""])
        replaced = [replacer(f) for f in fields]
        rel = window_aggregated(
            self._table.rel,
            resolver,
            self._window,
            self._groups,
            list(replacer.aggregates.values()),
            list(replacer.properties.values()),
        )
        grouped = self._table._table(rel)
        above = grouped._resolver()
        listed = list(above.expanded(replaced))
        return grouped._explicitly(above, listed)

    def aggregate(self, func: Any) -> AggregatedTable[T]:
        """The columns of an aggregate function's result."""
        if isinstance(func, DeclaredFunction):
            func.takes_row = True
            func = func(Expression("without_columns", self._window.time))
        return AggregatedTable(self._table, self._groups, func, self._window)


class OverWindowedTable(Generic[T]):
    """A table with windows for aggregates with ``over``."""

    def __init__(self, table: T, windows: Sequence[OverWindow]) -> None:
        self._table = table
        self._windows = {w.name: w for w in windows}

    def select(self, *fields: Any) -> T:
        """Compute columns, aggregates over windows among them."""
        from .windowing import over_aggregate

        resolver = self._table._resolver()
        resolver.over = lambda aggregate, alias: over_aggregate(resolver, self._windows, aggregate, alias)
        listed = list(resolver.expanded(fields))
        return self._table._explicitly(resolver, listed)
