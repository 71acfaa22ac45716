"""Which parts of a pipeline's text the operators of its plan come from.

A plan does not say so, and rules move operators about; but what a join, a grouping or an OVER call was written over are
the tables that its operator reads, however far below.  So an operator is matched with the clauses of its kind over the
same tables, in their order where there are as many of the one as of the other, else with all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from ..plan import nodes
from ..plan.document import Plan
from ..plan.nodes import ExecNode
from ..plan.record import Record
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
    Clause.SELECT: (nodes.Calc,),
    Clause.VALUES: (nodes.Values,),
    Clause.JOIN: (
        *(nodes.Join, nodes.MultiJoin, nodes.IntervalJoin),
        *(nodes.TemporalJoin, nodes.WindowJoin, nodes.LookupJoin),
    ),
    Clause.FUNCTION: (nodes.Correlate,),
    Clause.WINDOW: (nodes.WindowTableFunction,),
    Clause.GROUP: (
        *(nodes.GroupAggregate, nodes.LocalGroupAggregate, nodes.IncrementalGroupAggregate),
        *(nodes.GlobalGroupAggregate, nodes.GroupWindowAggregate, nodes.WindowAggregate),
        *(nodes.LocalWindowAggregate, nodes.GlobalWindowAggregate, nodes.Expand),
    ),
    Clause.OVER: (nodes.OverAggregate, nodes.Rank, nodes.Deduplicate, nodes.WindowRank, nodes.WindowDeduplicate),
    Clause.PATTERN: (nodes.Match,),
    Clause.UNION: (nodes.Union,),
    Clause.ORDER: (nodes.Limit, nodes.Sort, nodes.SortLimit, nodes.TemporalSort),
    Clause.STREAM_WINDOW: (nodes.WindowOperator, nodes.LateRows),
}
CLAUSES = {operator: clause for clause, operators in _OPERATORS.items() for operator in operators}
"""What operators are written as; the others serve the one that reads them."""


class Written(Record):
    """A clause: for which sink and over which tables it is written, and where."""

    clause: Clause
    sink: str
    tables: frozenset[str]
    spans: tuple[ast.Span, ...]


def places(plan: Plan, script: ast.Script) -> dict[int, tuple[ast.Span, ...]]:
    """Where the clauses stand that the operators of a plan come from, by node id; nothing where none is found."""
    written = _written(script)
    tables, sinks = _tables_read(plan), _sinks_fed(plan)
    found: dict[int, tuple[ast.Span, ...]] = {}
    for node in reversed(plan.nodes):
        clause = CLAUSES.get(type(node))
        if clause is None:
            found[node.id] = next((found[reader.id] for reader in plan.outputs(node)), ())
            continue
        serving = [w for w in written if w.sink in sinks[node.id]]
        of_clause = [w for w in serving if w.clause is clause]
        same = [w for w in of_clause if w.tables == tables[node.id]]
        beside = [
            n
            for n in plan.nodes
            if CLAUSES.get(type(n)) is clause and (tables[n.id], sinks[n.id]) == (tables[node.id], sinks[node.id])
        ]
        matched = _in_order(node, beside, same) or same or _around(tables[node.id], of_clause, serving)
        found[node.id] = tuple(dict.fromkeys(span for w in matched for span in w.spans))
    return found


def _in_order(node: ExecNode, beside: Sequence[ExecNode], same: Sequence[Written]) -> list[Written]:
    """The clause of a node where nodes, or those of its class, and clauses are as many; both come inputs first."""
    for alike in (list(beside), [n for n in beside if type(n) is type(node)]):
        if len(alike) == len(same):
            return [same[alike.index(node)]]
    return []


def _around(tables: frozenset[str], of_clause: Iterable[Written], written: Iterable[Written]) -> list[Written]:
    """The smallest clauses over more tables, as of joins that are reordered; else what is selected of the tables."""
    larger = [w for w in of_clause if w.tables > tables]
    fewest = min((len(w.tables) for w in larger), default=0)
    return [w for w in larger if len(w.tables) == fewest] or [
        w for w in written if w.clause is Clause.SELECT and w.tables == tables
    ]


def _tables_read(plan: Plan) -> dict[int, frozenset[str]]:
    """The tables that feed each node, by node id; those of a sink are the one that it writes."""
    found: dict[int, frozenset[str]] = {}
    for node in plan.nodes:
        found[node.id] = frozenset().union(*(found[source.id] for source in plan.inputs(node)))
        if isinstance(node, nodes.TableSourceScan):
            found[node.id] = frozenset({node.scan_table_source.table.name})
        elif isinstance(node, nodes.LookupJoin):
            found[node.id] |= {node.table.name}
    for node in plan.nodes:
        if isinstance(node, nodes.Sink):
            found[node.id] = frozenset({node.dynamic_table_sink.table.name})
    return found


def _sinks_fed(plan: Plan) -> dict[int, frozenset[str]]:
    """The tables that each node is there for, by node id."""
    found: dict[int, frozenset[str]] = {}
    for node in reversed(plan.nodes):
        found[node.id] = frozenset().union(*(found[reader.id] for reader in plan.outputs(node)))
        if isinstance(node, nodes.Sink):
            found[node.id] = frozenset({node.dynamic_table_sink.table.name})
    return found


def _written(script: ast.Script) -> list[Written]:
    """The clauses of a script, those of a query behind those of what it reads, each once."""
    reader = _Reader()
    for statement in script.statements:
        reader.statement(statement)
    return list(dict.fromkeys(reader.found))


class _View(Record):
    """A query that has a name, and what is known where it stands."""

    query: ast.Query
    known: Mapping[str, _View]


class _Reader:
    """Collects the clauses of what is inserted; views and common table expressions are read where they are used."""

    def __init__(self) -> None:
        self.found: list[Written] = []
        self._sink = ""
        self._views: dict[str, _View] = {}
        self._created: dict[str, ast.CreateTable] = {}

    def statement(self, statement: ast.Statement) -> None:
        """Read one statement."""
        match statement:
            case ast.CreateTable():
                self._created[statement.name.names[-1]] = statement
                if statement.query is not None:
                    self._insert(statement.name, statement.query)
            case ast.CreateView():
                self._views[statement.name.names[-1]] = _View(statement.query, dict(self._views))
            case ast.Insert():
                self._insert(statement.table, statement.query)
            case ast.StatementSet():
                for insert in statement.inserts:
                    self.statement(insert)
            case ast.CompilePlan() | ast.Explain():
                self.statement(statement.statement)

    def _insert(self, table: ast.Name, query: ast.Query) -> None:
        self._sink = table.names[-1]
        self._query(query, self._views)
        self._find(Clause.INSERT, frozenset({self._sink}), table)

    def _find(self, clause: Clause, tables: frozenset[str], *parts: ast.Node | None) -> None:
        self._found(clause, tables, *(part.span for part in parts if part is not None))

    def _found(self, clause: Clause, tables: frozenset[str], *spans: ast.Span) -> None:
        self.found.append(Written(clause, self._sink, tables, spans))

    def _query(self, query: ast.Query, known: Mapping[str, _View]) -> frozenset[str]:
        for cte in query.ctes:
            known = {**known, cte.name.name: _View(cte.query, known)}
        tables = self._body(query.body, known)
        if query.order_by or query.limit or query.offset:
            self._find(Clause.ORDER, tables, *query.order_by, query.offset, query.limit)
        return tables

    def _body(self, body: ast.QueryBody, known: Mapping[str, _View]) -> frozenset[str]:
        match body:
            case ast.Query():
                return self._query(body, known)
            case ast.SetOperation():
                tables = self._body(body.left, known) | self._body(body.right, known)
                clauses = (Clause.UNION,) if body.all else (Clause.UNION, Clause.GROUP, Clause.JOIN)
                for clause in clauses:
                    self._find(clause, tables, body)
                return tables
            case ast.ExplicitTable():
                return self._table(body.name, body, known)
            case ast.Values():
                self._find(Clause.VALUES, frozenset(), body)
                return frozenset()
            case ast.WindowQuery():
                tables = self._from(body.source, known)
                self._find(Clause.STREAM_WINDOW, tables, body)
                return tables
            case ast.Select():
                return self._select(body, known)

    def _select(self, select: ast.Select, known: Mapping[str, _View]) -> frozenset[str]:
        tables: frozenset[str] = frozenset()
        if select.from_ is None:
            self._find(Clause.VALUES, tables, *select.items)
        else:
            tables = self._from(select.from_, known)
        parts = [part for part in (*select.items, select.where, select.having, select.qualify) if part is not None]
        for part in parts:
            for test in _with_query(part):
                tables |= frozenset().union(*(self._query(query, known) for query in _queries(test)))
                self._find(Clause.JOIN, tables, test)
        if select.group_by is not None or select.distinct:
            self._find(Clause.GROUP, tables, select.group_by or select)
        for call in (call for part in parts for call in _over_calls(part)):
            self._find(Clause.OVER, tables, call)
        self._find(Clause.SELECT, tables, *parts)
        return tables

    def _from(self, table: ast.TableExpression, known: Mapping[str, _View]) -> frozenset[str]:
        match table:
            case ast.TableRef():
                return self._table(table.name, table, known)
            case ast.DerivedTable():
                return self._query(table.query, known)
            case ast.Unnest():
                return frozenset()
            case ast.MatchRecognize():
                tables = self._from(table.table, known)
                self._find(Clause.PATTERN, tables, table)
                return tables
            case ast.TableFunction():
                arguments = [self._query(query, known) for query in _queries(table.call)]
                tables = frozenset[str]().union(*arguments)
                self._find(Clause.WINDOW if arguments else Clause.FUNCTION, tables, table)
                return tables
            case ast.Join():
                tables = self._from(table.left, known) | self._from(table.right, known)
                is_call = isinstance(table.right, (ast.Unnest, ast.TableFunction)) and not list(_queries(table.right))
                behind = ast.Span(table.left.span.end, table.span.end, table.span.source)
                clause = Clause.FUNCTION if is_call else Clause.JOIN
                self._found(clause, tables, _without_space(behind))
                return tables

    def _table(self, name: ast.Name, at: ast.Node, known: Mapping[str, _View]) -> frozenset[str]:
        own = name.names[-1]
        if (view := known.get(own)) is not None:
            return self._query(view.query, view.known)
        tables = frozenset({own})
        self._find(Clause.TABLE, tables, at)
        if (created := self._created.get(own)) is not None:
            self._find(Clause.TABLE, tables, created.name)
            for watermark in created.watermarks:
                self._find(Clause.WATERMARK, tables, watermark)
        return tables


def _queries(node: ast.Node) -> Iterator[ast.Query]:
    """The outermost queries within a node."""
    for child in node.children():
        if isinstance(child, ast.Query):
            yield child
        else:
            yield from _queries(child)


def _with_query(node: ast.Node) -> Iterator[ast.Node]:
    """The smallest nodes that hold the outermost queries."""
    if any(isinstance(child, ast.Query) for child in node.children()):
        yield node
        return
    for child in node.children():
        yield from _with_query(child)


def _over_calls(node: ast.Node) -> Iterator[ast.FunctionCall]:
    """The calls with OVER that are no part of a query within."""
    if isinstance(node, ast.FunctionCall) and node.over is not None:
        yield node
    for child in node.children():
        if not isinstance(child, ast.Query):
            yield from _over_calls(child)


def _without_space(span: ast.Span) -> ast.Span:
    text = span.text
    return ast.Span(span.end - len(text.lstrip()), span.start + len(text.rstrip()), span.source)
