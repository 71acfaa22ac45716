"""Which parts of a pipeline's text the operators of its plan come from.

A plan does not say so, and rules move operators.  But the tables that a join, a grouping or an OVER call reads in the
text are those that feed its operator.  So an operator is matched with the clauses of its kind over the same tables: one
by one where there are as many operators as clauses, else with all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from ..plan import nodes
from ..plan.document import Plan
from ..plan.nodes import ExecNode
from ..plan.record import Record, replace
from .catalog.catalog import DEFAULT_CATALOG, DEFAULT_DATABASE, Identifier
from .sql import ast


class Clause(StrEnum):
    """The kinds of clauses that become operators."""

    TABLE = "a table that is read"
    WATERMARK = "WATERMARK FOR"
    INSERT = "INSERT INTO"
    SELECT = "SELECT and WHERE"
    VALUES = "VALUES"
    JOIN = "JOIN, IN, EXISTS"
    FUNCTION = "a table function"
    WINDOW = "a window function over a table"
    GROUP = "GROUP BY, DISTINCT"
    OVER = "OVER"
    PATTERN = "MATCH_RECOGNIZE"
    UNION = "UNION, INTERSECT, EXCEPT"
    ORDER = "ORDER BY, LIMIT"
    STREAM_WINDOW = "an entry of windows"


_OPERATORS: Mapping[Clause, tuple[type[ExecNode], ...]] = {
    Clause.TABLE: (nodes.TableSourceScan, nodes.ChangelogNormalize),
    Clause.WATERMARK: (nodes.WatermarkAssigner,),
    Clause.INSERT: (nodes.Sink,),
    Clause.SELECT: (nodes.Calc, nodes.AsyncCalc, nodes.PythonCalc, nodes.PythonAsyncCalc),
    Clause.VALUES: (nodes.Values,),
    Clause.JOIN: (
        *(nodes.Join, nodes.MultiJoin, nodes.IntervalJoin, nodes.DeltaJoin),
        *(nodes.TemporalJoin, nodes.WindowJoin, nodes.LookupJoin),
    ),
    Clause.FUNCTION: (nodes.Correlate, nodes.ProcessTableFunction, nodes.PythonCorrelate),
    Clause.WINDOW: (nodes.WindowTableFunction,),
    Clause.GROUP: (
        *(nodes.GroupAggregate, nodes.LocalGroupAggregate, nodes.IncrementalGroupAggregate),
        *(nodes.GlobalGroupAggregate, nodes.GroupWindowAggregate, nodes.WindowAggregate),
        *(nodes.LocalWindowAggregate, nodes.GlobalWindowAggregate, nodes.Expand),
        *(nodes.PythonGroupAggregate, nodes.PythonGroupWindowAggregate),
    ),
    Clause.OVER: (
        *(nodes.OverAggregate, nodes.PythonOverAggregate, nodes.Rank, nodes.Deduplicate),
        *(nodes.WindowRank, nodes.WindowDeduplicate),
    ),
    Clause.PATTERN: (nodes.Match,),
    Clause.UNION: (nodes.Union,),
    Clause.ORDER: (nodes.Limit, nodes.Sort, nodes.SortLimit, nodes.TemporalSort),
    Clause.STREAM_WINDOW: (nodes.WindowOperator, nodes.LateRows),
}
CLAUSES = {operator: clause for clause, operators in _OPERATORS.items() for operator in operators}
"""The clause that becomes an operator; the other operators, such as exchanges, belong to the one that reads them."""


Tables: TypeAlias = frozenset[str]
"""Tables by their full identifiers: ```default_catalog`.`default_database`.`t```."""


class Written(Record):
    """A clause of the text: the table that its INSERT writes, the tables that it reads, and its places."""

    clause: Clause
    sink: str
    tables: Tables
    spans: tuple[ast.Span, ...]


def places(plan: Plan, script: ast.Script) -> dict[int, tuple[ast.Span, ...]]:
    """Where the clauses stand that the operators of a plan come from, by node id; empty where no clause matches."""
    written = _written(script)
    tables, sinks = _tables_read(plan), _sinks_fed(plan)
    spans: dict[int, tuple[ast.Span, ...]] = {}
    for node in reversed(plan.nodes):
        clause = CLAUSES.get(type(node))
        if clause is None:
            spans[node.id] = next((spans[reader.id] for reader in plan.outputs(node)), ())
            continue
        same_sink = [w for w in written if w.sink in sinks[node.id]]
        same_clause = [w for w in same_sink if w.clause is clause]
        same_tables = [w for w in same_clause if w.tables == tables[node.id]]
        siblings = [
            n
            for n in plan.nodes
            if CLAUSES.get(type(n)) is clause and (tables[n.id], sinks[n.id]) == (tables[node.id], sinks[node.id])
        ]
        matches = (
            _in_order(node, siblings, same_tables)
            or same_tables
            or _enclosing(tables[node.id], same_clause)
            or [w for w in same_sink if w.clause is Clause.SELECT and w.tables == tables[node.id]]
        )
        spans[node.id] = tuple(dict.fromkeys(span for w in matches for span in w.spans))
    return spans


def _in_order(node: ExecNode, siblings: Sequence[ExecNode], clauses: Sequence[Written]) -> list[Written]:
    """The clause of a node by its position, where there are as many clauses as nodes, or as nodes of its class.

    Both are ordered inputs first.
    """
    for candidates in (list(siblings), [n for n in siblings if type(n) is type(node)]):
        if len(candidates) == len(clauses):
            return [clauses[candidates.index(node)]]
    return []


def _enclosing(tables: Tables, clauses: Iterable[Written]) -> list[Written]:
    """The smallest clauses over more tables, as joins have that were reordered."""
    larger = [w for w in clauses if w.tables > tables]
    fewest = min((len(w.tables) for w in larger), default=0)
    return [w for w in larger if len(w.tables) == fewest]


def _tables_read(plan: Plan) -> dict[int, Tables]:
    """The tables that feed each node, by node id; for a sink the table that it writes."""
    tables: dict[int, Tables] = {}
    for node in plan.nodes:
        tables[node.id] = frozenset().union(*(tables[source.id] for source in plan.inputs(node)))
        if isinstance(node, nodes.TableSourceScan):
            tables[node.id] = frozenset({node.scan_table_source.table.identifier})
        elif isinstance(node, nodes.LookupJoin):
            tables[node.id] |= {node.table.identifier}
    for node in plan.nodes:
        if isinstance(node, nodes.Sink):
            tables[node.id] = frozenset({node.dynamic_table_sink.table.identifier})
    return tables


def _sinks_fed(plan: Plan) -> dict[int, Tables]:
    """The tables that each node's rows are written to, by node id."""
    sinks: dict[int, Tables] = {}
    for node in reversed(plan.nodes):
        sinks[node.id] = frozenset().union(*(sinks[reader.id] for reader in plan.outputs(node)))
        if isinstance(node, nodes.Sink):
            sinks[node.id] = frozenset({node.dynamic_table_sink.table.identifier})
    return sinks


def _written(script: ast.Script) -> list[Written]:
    """The clauses of a script, each once; those of a query stand behind those of the queries that it reads."""
    collector = _Collector()
    for statement in script.statements:
        collector.statement(statement)
    return list(dict.fromkeys(collector.clauses))


class _View(Record):
    """A view or common table expression: its query, and what names mean in it."""

    query: ast.Query
    scope: _Scope


class _Scope(Record):
    """What names mean at a place of the text.

    ``views`` has common table expressions by their name and views by their full identifier.
    """

    catalog: str = DEFAULT_CATALOG
    database: str = DEFAULT_DATABASE
    views: Mapping[str, _View] = {}

    def identifier(self, name: ast.Name) -> str:
        """The full identifier of a table or view."""
        *before, last = name.names
        catalog, database = (*(self.catalog, self.database)[: 2 - len(before)], *before)
        return str(Identifier(catalog, database, last))

    def view(self, name: ast.Name) -> _View | None:
        """The view or common table expression with a name, if there is one."""
        cte = self.views.get(name.names[0]) if len(name.names) == 1 else None
        return cte or self.views.get(self.identifier(name))

    def including(self, name: str, query: ast.Query) -> _Scope:
        """The scope behind the definition of a view or common table expression."""
        return replace(self, views={**self.views, name: _View(query, self)})


class _Collector:
    """Collects the clauses of all INSERTs; views and common table expressions are read where they are used."""

    def __init__(self) -> None:
        self.clauses: list[Written] = []
        self._sink = ""
        self._scope = _Scope()
        self._default_databases = {DEFAULT_CATALOG: DEFAULT_DATABASE}
        self._created: dict[str, ast.CreateTable] = {}

    def statement(self, statement: ast.Statement) -> None:
        """Read one statement."""
        match statement:
            case ast.UseCatalog():
                catalog = statement.name.name
                default = self._default_databases.get(catalog, DEFAULT_DATABASE)
                self._scope = replace(self._scope, catalog=catalog, database=default)
            case ast.UseDatabase():
                catalog, database = (self._scope.catalog, *statement.name.names)[-2:]
                self._scope = replace(self._scope, catalog=catalog, database=database)
            case ast.CreateCatalog():
                options = {option.key: option.value for option in statement.options}
                self._default_databases[statement.name.name] = options.get("default-database", "default")
            case ast.CreateTable():
                self._created[self._scope.identifier(statement.name)] = statement
                if statement.query is not None:
                    self._insert(statement.name, statement.query)
            case ast.CreateView():
                self._scope = self._scope.including(self._scope.identifier(statement.name), statement.query)
            case ast.Insert():
                self._insert(statement.table, statement.query)
            case ast.StatementSet():
                for insert in statement.inserts:
                    self.statement(insert)
            case ast.CompilePlan() | ast.Explain():
                self.statement(statement.statement)

    def _insert(self, table: ast.Name, query: ast.Query) -> None:
        self._sink = self._scope.identifier(table)
        self._query(query, self._scope)
        self._add(Clause.INSERT, frozenset({self._sink}), table)

    def _add(self, clause: Clause, tables: Tables, *parts: ast.Node | None) -> None:
        self._add_spans(clause, tables, *(part.span for part in parts if part is not None))

    def _add_spans(self, clause: Clause, tables: Tables, *spans: ast.Span) -> None:
        self.clauses.append(Written(clause, self._sink, tables, spans))

    def _query(self, query: ast.Query, scope: _Scope) -> Tables:
        for cte in query.ctes:
            scope = scope.including(cte.name.name, cte.query)
        tables = self._body(query.body, scope)
        if query.order_by or query.limit or query.offset:
            self._add(Clause.ORDER, tables, *query.order_by, query.offset, query.limit)
        return tables

    def _body(self, body: ast.QueryBody, scope: _Scope) -> Tables:
        match body:
            case ast.Query():
                return self._query(body, scope)
            case ast.SetOperation():
                tables = self._body(body.left, scope) | self._body(body.right, scope)
                clauses = (Clause.UNION,) if body.all else (Clause.UNION, Clause.GROUP, Clause.JOIN)
                for clause in clauses:
                    self._add(clause, tables, body)
                return tables
            case ast.ExplicitTable():
                return self._table(body.name, body, scope)
            case ast.BoundQuery():
                return frozenset()
            case ast.Values():
                self._add(Clause.VALUES, frozenset(), body)
                return frozenset()
            case ast.WindowQuery():
                tables = self._from(body.source, scope)
                self._add(Clause.STREAM_WINDOW, tables, body)
                return tables
            case ast.Select():
                return self._select(body, scope)

    def _select(self, select: ast.Select, scope: _Scope) -> Tables:
        tables: Tables = frozenset()
        if select.from_ is None:
            self._add(Clause.VALUES, tables, *select.items)
        else:
            tables = self._from(select.from_, scope)
        parts = [part for part in (*select.items, select.where, select.having, select.qualify) if part is not None]
        for part in parts:
            for test in _with_query(part):
                tables |= frozenset().union(*(self._query(query, scope) for query in _queries(test)))
                self._add(Clause.JOIN, tables, test)
        if select.group_by is not None or select.distinct:
            self._add(Clause.GROUP, tables, select.group_by or select)
        for call in (call for part in parts for call in _over_calls(part)):
            self._add(Clause.OVER, tables, call)
        self._add(Clause.SELECT, tables, *parts)
        return tables

    def _from(self, table: ast.TableExpression, scope: _Scope) -> Tables:
        match table:
            case ast.TableRef():
                return self._table(table.name, table, scope)
            case ast.DerivedTable():
                return self._query(table.query, scope)
            case ast.Unnest():
                return frozenset()
            case ast.MatchRecognize():
                tables = self._from(table.table, scope)
                self._add(Clause.PATTERN, tables, table)
                return tables
            case ast.TableFunction():
                arguments = [self._query(query, scope) for query in _queries(table.call)]
                tables = frozenset[str]().union(*arguments)
                self._add(Clause.WINDOW if arguments else Clause.FUNCTION, tables, table)
                return tables
            case ast.Join():
                tables = self._from(table.left, scope) | self._from(table.right, scope)
                is_call = isinstance(table.right, (ast.Unnest, ast.TableFunction)) and not list(_queries(table.right))
                behind = ast.Span(table.left.span.end, table.span.end, table.span.source)
                clause = Clause.FUNCTION if is_call else Clause.JOIN
                self._add_spans(clause, tables, _without_space(behind))
                return tables

    def _table(self, name: ast.Name, at: ast.Node, scope: _Scope) -> Tables:
        if (view := scope.view(name)) is not None:
            return self._query(view.query, view.scope)
        identifier = scope.identifier(name)
        tables = frozenset({identifier})
        self._add(Clause.TABLE, tables, at)
        if (created := self._created.get(identifier)) is not None:
            self._add(Clause.TABLE, tables, created.name)
            for watermark in created.watermarks:
                self._add(Clause.WATERMARK, tables, watermark)
        return tables


def _queries(node: ast.Node) -> Iterator[ast.Query]:
    """The outermost queries within a node."""
    for child in node.children():
        if isinstance(child, ast.Query):
            yield child
        else:
            yield from _queries(child)


def _with_query(node: ast.Node) -> Iterator[ast.Node]:
    """The smallest nodes that have an outermost query as a child."""
    if any(isinstance(child, ast.Query) for child in node.children()):
        yield node
        return
    for child in node.children():
        yield from _with_query(child)


def _over_calls(node: ast.Node) -> Iterator[ast.FunctionCall]:
    """The calls with OVER, without those of subqueries."""
    if isinstance(node, ast.FunctionCall) and node.over is not None:
        yield node
    for child in node.children():
        if not isinstance(child, ast.Query):
            yield from _over_calls(child)


def _without_space(span: ast.Span) -> ast.Span:
    text = span.text
    return ast.Span(span.end - len(text.lstrip()), span.start + len(text.rstrip()), span.source)
