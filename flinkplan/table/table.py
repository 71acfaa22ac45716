"""Tables: queries built by methods.  Nothing runs before rows are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..plan.findings import did_you_mean
from ..plan.functions import Function, Kind
from ..plan.functions.changelog import FROM_CHANGELOG, TO_CHANGELOG
from ..plan.functions.process import UID
from ..plan.functions.typing import least_restrictive
from ..plan.functions.user import PythonFunction
from ..plan.record import replace
from ..plan.rex import CorrelVariable, FieldAccess, InputRef, RexNode, transform
from ..plan.specs import JoinType, SortField
from ..plan.types import row
from ..planner.algebra.logical import Aggregate, Correlate, Join, Project, SetKind, SetOp, Sort
from ..planner.algebra.rel import Rel
from ..planner.algebra.row_types import nullable_types
from ..planner.binder.calls import fit
from ..planner.rex.expressions import TRUE, conjunctions, identity
from ..planner.sql import ast
from .expression import Expression
from .grouped import AggregatedTable, Derivable, GroupedTable, GroupWindowedTable, OverWindowedTable, WindowGroupedTable
from .naming import ValidationError, field_name, function_of_call
from .processing import PartitionedTable, bound, called
from .relations import (
    check_unique,
    column_names,
    compares_sides,
    filtered,
    holds_aggregate,
    named_explicitly,
    project,
    with_types,
)
from .resolving import Resolver
from .result import TableResult
from .window import GroupWindow, OverWindow

if TYPE_CHECKING:
    from .compiled_plan import ExplainDetail
    from .descriptors import TableDescriptor
    from .host import Host, Pipeline

__all__ = ["AggregatedTable", "GroupWindowedTable", "GroupedTable", "OverWindowedTable", "Table", "WindowGroupedTable"]


class Table(Derivable):
    """A query.  Its methods give further tables."""

    def __init__(self, environment: Host, rel: Rel, *, is_of_sql: bool = False) -> None:
        self._environment = environment
        self.rel = rel
        self._is_of_sql = is_of_sql

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("_") or name == "rel":
            raise AttributeError(name)
        if name not in self.rel.names:
            known = ", ".join(self.rel.names)
            methods = [n for n in dir(Table) if not n.startswith("_")]
            near = did_you_mean(name, [*self.rel.names, *methods])
            hint = f"; {near}" if near else ""
            raise AttributeError(f"a Table has no method '{name}', and this one no such column: {known}{hint}")
        return Expression("col", name)

    def __str__(self) -> str:
        """A name under which the table can be used in SQL."""
        return self._environment.name_of(self)

    # Helpers

    def _resolver(self) -> Resolver:
        return Resolver(self._environment.context(), self.rel.names, self.rel.types)

    def _table(self, rel: Rel) -> Table:
        return Table(self._environment, rel)

    # Projections

    def select(self, *fields: Any) -> Table:
        """Compute columns; with aggregates, one row of the whole table."""
        resolver = self._resolver()
        listed = list(resolver.expanded(fields))
        if any(holds_aggregate(resolver.context, f) for f in listed):
            return GroupedTable(self, ()).select(*listed)
        return self._projected(resolver, listed, column_names(listed))

    def alias(self, field: str, *fields: str) -> Table:
        """Rename the first columns."""
        names = [field, *fields]
        if len(names) > len(self.rel.names):
            raise ValidationError(f"there are {len(names)} names for {len(self.rel.names)} columns")
        new = [*names, *self.rel.names[len(names) :]]
        check_unique(new)
        own: list[str | None] = [*([None] * len(names)), *self.rel.names[len(names) :]]
        return self._table(project(self.rel, named_explicitly(identity(self.rel.types), new, own), new))

    def add_columns(self, *fields: Any) -> Table:
        """Append columns."""
        return self.select(Expression("col", "*"), *fields)

    def add_or_replace_columns(self, *fields: Any) -> Table:
        """Append columns; those whose names are there replace the old ones."""
        resolver = self._resolver()
        columns: dict[str, Any] = {name: Expression("col", name) for name in self.rel.names}
        for i, f in enumerate(resolver.expanded(fields)):
            columns[field_name(f) or f"_c{len(self.rel.names) + i}"] = f
        return self._projected(resolver, list(columns.values()), list(columns))

    def rename_columns(self, *fields: Any) -> Table:
        """Rename columns: ``col("old").alias("new")``."""
        names = list(self.rel.names)
        resolver = self._resolver()
        for f in fields:
            if not isinstance(f, Expression) or f._name != "as":
                raise ValidationError(f"'{f}' renames no column", hint="write col('old').alias('new')")
            names[resolver.column(f._args[0]._args[0]).index] = f._args[1]
        check_unique(names)
        return self._table(project(self.rel, identity(self.rel.types), names))

    def drop_columns(self, *fields: Any) -> Table:
        """Leave columns out."""
        resolver = self._resolver()
        dropped = {f._args[0] for f in resolver.expanded(fields)}
        for name in dropped:
            resolver.column(name)
        return self._projected(
            resolver,
            [Expression("col", n) for n in self.rel.names if n not in dropped],
            [n for n in self.rel.names if n not in dropped],
        )

    def map(self, func: Any) -> Table:
        """The columns of a scalar function's result; a declared function takes the whole row."""
        resolver = self._resolver()
        call = self._row_call(func)
        rex = resolver.rex(call)
        if not rex.type.fields:
            return self._projected(resolver, [call], [field_name(call) or "_c0"])
        names = call._args[1:] if call._name == "as" else rex.type.field_names
        exprs = resolver.all(Expression("get", call, n) for n in rex.type.field_names)
        return self._table(project(self.rel, named_explicitly(exprs, names, [None] * len(exprs)), names))

    def flat_map(self, func: Any) -> Table:
        """The rows of a table function; a declared function takes the whole row."""
        call = self._row_call(func)
        joined = self._lateral(JoinType.INNER, call, None, unique=False)
        width = len(self.rel.names)
        columns = identity(joined.rel.types)[width:]
        names = joined.rel.function_type.field_names if isinstance(joined.rel, Correlate) else joined.rel.names[width:]
        return self._table(project(joined.rel, named_explicitly(columns, names, [None] * len(columns)), names))

    def _row_call(self, func: Any) -> Expression:
        if isinstance(func, Expression):
            return func
        func.takes_row = True
        call: Expression = func(Expression("col", "*"))
        return call

    # Filters

    def where(self, predicate: Any) -> Table:
        """Keep the rows for which a condition is true."""
        resolver = self._resolver()
        condition = resolver.rex(predicate)
        if condition.type.root != "BOOLEAN":
            raise ValidationError(f"where() takes a condition, but this is of type {condition.type}")
        return self._table(filtered(self.rel, condition))

    filter = where

    def distinct(self) -> Table:
        """Different rows only."""
        return self._table(Aggregate(input=self.rel, grouping=tuple(range(self.rel.width)), calls=()))

    # Aggregations and windows

    def group_by(self, *fields: Any) -> GroupedTable[Table]:
        """Group the rows; expressions need an alias."""
        return GroupedTable(self, tuple(self._resolver().expanded(fields)))

    def aggregate(self, func: Any) -> AggregatedTable[Table]:
        """The columns of an aggregate function's result over the whole table."""
        return self.group_by().aggregate(func)

    def flat_aggregate(self, func: Any) -> AggregatedTable[Table]:
        """The rows that a table aggregate function emits for all rows."""
        return self.group_by().flat_aggregate(func)

    def window(self, window: GroupWindow) -> GroupWindowedTable[Table]:
        """Assign the rows to windows."""
        return GroupWindowedTable(self, window)

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable[Table]:
        """Define windows for aggregates with ``over``."""
        return OverWindowedTable(self, over_windows)

    # Joins

    def join(self, right: Table, join_predicate: Any = None) -> Table:
        """The pairs of rows for which a condition is true."""
        return self._join(JoinType.INNER, right, join_predicate)

    def left_outer_join(self, right: Table, join_predicate: Any = None) -> Table:
        """As :meth:`join`, with the left rows that have no match."""
        return self._join(JoinType.LEFT, right, join_predicate)

    def right_outer_join(self, right: Table, join_predicate: Any) -> Table:
        """As :meth:`join`, with the right rows that have no match."""
        return self._join(JoinType.RIGHT, right, join_predicate)

    def full_outer_join(self, right: Table, join_predicate: Any) -> Table:
        """As :meth:`join`, with the rows of both sides that have no match."""
        return self._join(JoinType.FULL, right, join_predicate)

    def _join(self, kind: JoinType, right: Table, predicate: Any) -> Table:
        if right._environment is not self._environment:
            raise ValidationError("only tables of the same environment can be joined")
        left_rel, right_rel = self.rel, right.rel
        check_unique((*left_rel.names, *right_rel.names))
        condition: RexNode = TRUE
        if predicate is not None:
            types = (*left_rel.types, *right_rel.types)
            resolver = Resolver(self._environment.context(), (*left_rel.names, *right_rel.names), types)
            condition = resolver.condition(predicate)
            if not any(compares_sides(part, left_rel.width) for part in conjunctions(condition)):
                raise ValidationError(
                    f"the join condition '{predicate}' compares no column of the left side with one of the right side",
                    hint="add an equality, or filter the rows with where(…) behind join(right)",
                )
        return self._table(Join(left=left_rel, right=right_rel, type=kind, condition=condition, is_built=True))

    def join_lateral(self, table_function_call: Any, join_predicate: Any = None) -> Table:
        """Each row with the rows that a table function gives for it."""
        return self._lateral(JoinType.INNER, self._row_call(table_function_call), join_predicate)

    def left_outer_join_lateral(self, table_function_call: Any, join_predicate: Any = None) -> Table:
        """As :meth:`join_lateral`, with the rows for which the function gives none."""
        return self._lateral(JoinType.LEFT, self._row_call(table_function_call), join_predicate)

    def _lateral(self, kind: JoinType, call: Expression, predicate: Any, unique: bool = True) -> Table:
        resolver = self._resolver()
        aliases: Sequence[str] = ()
        if call._name == "as":
            aliases, call = call._args[1:], call._args[0]
        if call._name != "call":
            raise ValidationError(f"'{call}' calls no table function")
        function = function_of_call(resolver.context, call._args[0])
        if not isinstance(function, PythonFunction) or function.kind is not Kind.TABLE:
            raise ValidationError(f"{function.name} is no table function")
        operands = fit(function, resolver.all(resolver.expanded(call._args[1:])), ast.NO_SPAN)
        result = function.declaration.result
        if aliases:
            if len(aliases) != len(result.fields):
                raise ValidationError(f"{function.name} gives {len(result.fields)} columns, {len(aliases)} are named")
            result = row(zip(aliases, result.field_types, strict=True), nullable=False)
        if unique:
            check_unique((*self.rel.names, *result.field_names))
        correl = "$cor"  # numbered when the table is planned
        variable = CorrelVariable(correl, self.rel.row_type)
        names = self.rel.row_type.field_names

        def through_variable(rex: RexNode) -> RexNode:
            return FieldAccess(names[rex.index], variable) if isinstance(rex, InputRef) else rex

        called = transform(function.typed(result, *operands), through_variable)
        correlate = Correlate(
            input=self.rel,
            type=kind,
            correl=correl,
            call=called,
            function_type=result,
            aliases=result.field_names,
            by_position=True,
        )
        if predicate is None:
            return self._table(correlate)
        condition = Resolver(resolver.context, correlate.names, correlate.types).condition(predicate)
        if kind is JoinType.LEFT and condition != TRUE:
            raise ValidationError(
                f"left_outer_join_lateral takes no condition but TRUE, not '{predicate}'",
                hint="join_lateral takes one, or filter with where(…) behind it",
            )
        return self._table(filtered(correlate, condition))

    # Set operations

    def union_all(self, right: Table) -> Table:
        """The rows of both tables."""
        return self._set(SetKind.UNION, right, all_=True)

    def union(self, right: Table) -> Table:
        """Raises an error, as Flink does for streams."""
        return self._set(SetKind.UNION, right, all_=False)

    def intersect(self, right: Table) -> Table:
        """Raises an error, as Flink does for streams."""
        return self._set(SetKind.INTERSECT, right, all_=False)

    def intersect_all(self, right: Table) -> Table:
        """Raises an error, as Flink does for streams."""
        return self._set(SetKind.INTERSECT, right, all_=True)

    def minus(self, right: Table) -> Table:
        """Raises an error, as Flink does for streams."""
        return self._set(SetKind.EXCEPT, right, all_=False)

    def minus_all(self, right: Table) -> Table:
        """Raises an error, as Flink does for streams."""
        return self._set(SetKind.EXCEPT, right, all_=True)

    def _set(self, kind: SetKind, right: Table, *, all_: bool) -> Table:
        if kind is not SetKind.UNION or not all_:
            name = "MINUS" if kind is SetKind.EXCEPT else kind.value
            raise ValidationError(
                f"the Table API takes no {name}{' ALL' if all_ else ''} of streams",
                hint=f"write it in SQL: sql_query('SELECT … {kind.value} SELECT …')",
            )
        left_rel, right_rel = self.rel, right.rel
        if left_rel.width != right_rel.width:
            raise ValidationError(f"the tables have {left_rel.width} and {right_rel.width} columns")
        types = list(nullable_types([left_rel.types, right_rel.types]))
        for i, (a, b) in enumerate(zip(left_rel.types, right_rel.types, strict=True)):
            if a.regular().nullable_() != b.regular().nullable_():
                common = least_restrictive([a.regular(), b.regular()])
                if common is None:
                    message = f"the types of the column '{left_rel.names[i]}' differ: {a} and {b}"
                    raise ValidationError(message, hint="cast one of them")
                types[i] = common
        return self._table(
            SetOp(kind=SetKind.UNION, all=True, operands=(with_types(left_rel, types), with_types(right_rel, types)))
        )

    # Order

    def order_by(self, *fields: Any) -> Table:
        """Sort the rows."""
        resolver = self._resolver()
        order: list[SortField] = []
        extra: list[RexNode] = []
        for f in resolver.expanded(fields):
            ascending = f._args[1] if isinstance(f, Expression) and f._name == "order" else True
            operand = f._args[0] if isinstance(f, Expression) and f._name == "order" else f
            rex = resolver.rex(operand)
            if isinstance(rex, InputRef):
                index = rex.index
            else:
                index = self.rel.width + len(extra)
                extra.append(rex)
            order.append(SortField(index, ascending, ascending))
        if not extra:
            return self._table(Sort(input=self.rel, order=tuple(order)))
        columns = identity(self.rel.types)
        names = (*self.rel.names, *(f"$f{self.rel.width + i}" for i in range(len(extra))))
        below = project(self.rel, [*columns, *extra], names)
        return self._table(project(Sort(input=below, order=tuple(order)), columns, self.rel.names))

    def _limited(self, limit: str, count: int) -> Table:
        """The rows with an OFFSET or a FETCH, which goes below a projection to the order.

        Source: ``RelBuilder.sortLimit``.
        """
        rel = self.rel
        above = rel if isinstance(rel, Project) and isinstance(rel.input, Sort) else None
        sort = rel if above is None else above.input
        if not isinstance(sort, Sort) or (above is not None and sort.fetch is not None):
            sort, above = Sort(input=rel, order=()), None
        if getattr(sort, limit) is not None:
            raise ValidationError(f"{limit.upper()} is already defined")
        limited = replace(sort, **{limit: count})
        return self._table(limited if above is None else replace(above, input=limited))

    def offset(self, offset: int) -> Table:
        """Leave out the first rows."""
        return self._limited("offset", offset)

    def fetch(self, fetch: int) -> Table:
        """The first rows only."""
        return self._limited("fetch", fetch)

    def limit(self, fetch: int, offset: int = 0) -> Table:
        """The first rows, after leaving some out."""
        return self.offset(offset).fetch(fetch)

    def to_changelog(self, *arguments: Expression) -> Table:
        """The changes as rows that are inserted, each with its kind in a column: ``TO_CHANGELOG``.

        ``arguments`` are named: ``descriptor("code").as_argument("op")`` is the column, and
        ``map_("INSERT", "I", …).as_argument("op_mapping")`` what it holds for each kind.
        """
        return self._process(TO_CHANGELOG, arguments)

    def from_changelog(self, *arguments: Expression) -> Table:
        """The rows with the kinds that a column names, and without it: ``FROM_CHANGELOG``.

        ``arguments`` are named: ``descriptor("code").as_argument("op")`` is the column, and
        ``map_("I", "INSERT", …).as_argument("op_mapping")`` which kind it means by what it holds.
        """
        return self._process(FROM_CHANGELOG, arguments)

    def _process(self, function: Function, arguments: Sequence[Expression]) -> Table:
        resolver = Resolver(self._environment.context(), (), ())
        given: dict[str, ast.Expression] = {"input": ast.TableArgument(self._query())}
        for argument in arguments:
            if not isinstance(argument, Expression) or argument._name != "argument":
                raise ValidationError(f"'{argument}' has no name", hint="name it: (…).as_argument('op')")
            value, name = argument._args
            given[name] = resolver.argument(value)
        given[UID] = ast.StringLiteral(function.name)
        return self._table(bound(resolver, function, given))

    # Process table functions, which PyFlink has in SQL only

    def process(self, function: Any, *arguments: Any) -> Table:
        """The rows that a process table function gives for the rows of the table.

        ``function`` is the name of a registered function, or one in Python.  Further arguments are named, such as
        ``lit(3).as_argument("most")``, or stand in their order.
        """
        return self._table(called(self._environment.context(), function, self, arguments))

    def partition_by(self, *fields: Expression) -> PartitionedTable[Table]:
        """The table, for a process table function that sees its rows key by key."""
        return PartitionedTable(self, self._query(), fields)

    def as_argument(self, name: str) -> Expression:
        """A named argument of ``TableEnvironment.from_call``."""
        return Expression("argument", self, name)

    # Results

    def get_schema(self) -> Any:
        """The names and types of the columns."""
        return self.get_resolved_schema()

    def get_resolved_schema(self) -> Any:
        """The names and types of the columns."""
        from .schemas import ResolvedSchema

        return ResolvedSchema.of(self.rel.names, self.rel.types)

    def print_schema(self) -> None:
        """Print the names and types of the columns."""
        print(self.get_resolved_schema())

    def _argument(self) -> ast.TableArgument:
        return ast.TableArgument(self._query())

    def _query(self) -> ast.Query:
        return ast.Query(ast.BoundQuery(self.rel, self._is_of_sql))

    def insert_into(self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False) -> Pipeline:
        """The pipeline that writes the rows to a table of the catalog, or of a descriptor."""
        return self._environment.insert(self._query(), table_path_or_descriptor, overwrite)

    def execute_insert(self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False) -> TableResult:
        """Write the rows to a table."""
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def execute(self) -> TableResult:
        """The rows."""
        return self._environment.execute_statement(ast.QueryStatement(self._query()))

    def to_pandas(self) -> Any:
        """The final rows as a pandas ``DataFrame``.  The query must end."""
        result: Any = self.execute()
        return result.to_pandas()

    def explain(self, *extra_details: ExplainDetail) -> str:
        """The query as Flink explains it."""
        details = [detail.name for detail in extra_details]
        return self._environment.explain_query(self._query(), details, of_table_api=not self._is_of_sql)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the explanation."""
        print(self.explain(*extra_details))

    def _repr_html_(self) -> str:
        """The columns, as a table of a notebook; nothing runs for it."""
        html: str = self.get_resolved_schema()._repr_html_()
        return html
