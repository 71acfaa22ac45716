"""What names mean at a place of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ...plan.errors import SQL_VALIDATOR
from ...plan.findings import did_you_mean
from ...plan.record import Record, Struct, field
from ...plan.rex import CorrelVariable, FieldAccess, InputRef, RexNode, transform
from ...plan.types import LogicalType, row
from ..algebra.names import uniquify
from ..rex.builder import field_access
from ..sql.ast import Identifier
from .errors import BindError


class Namespace(Record):
    """The columns that one item of FROM contributes, from ``offset`` on, and the names it goes by."""

    row_type: LogicalType
    offset: int
    alias: str | None = None
    path: tuple[str, ...] = ()
    """The full name of a table without alias, by which it may be qualified too."""
    hidden: frozenset[int] = frozenset()
    """The columns that ``*`` leaves out."""

    def matches(self, qualifier: tuple[str, ...]) -> bool:
        """Whether ``qualifier.column`` may be a column of this item."""
        if qualifier == (self.alias,):
            return True
        return bool(self.path) and len(qualifier) > 1 and self.path[-len(qualifier) :] == qualifier


class MergedColumn(Record):
    """A column of JOIN … USING or NATURAL JOIN: one name for a column of each side."""

    name: str
    expr: RexNode
    hidden: tuple[int, ...]
    is_named: bool = True
    """Whether the name alone stands for it; Flink knows the columns of a NATURAL JOIN only by ``*``."""
    of_all: RexNode | None = None
    """What ``*`` shows, where that is another expression than what the name stands for."""


class Scope(Struct):
    """The items of a FROM clause, and the scope around a subquery."""

    namespaces: tuple[Namespace, ...] = ()
    outer: Scope | None = None
    merged: tuple[MergedColumn, ...] = ()
    new_correlation: Callable[[], str] | None = None
    """Names the scope's row for subqueries, where they may read it."""
    correl: str = ""
    """The name of the scope's row, once a subquery has read it."""
    grouping: Sequence[RexNode] | None = None
    """What the rows that subqueries read are grouped by, if they are."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """The names that the SELECT list gives its items, which no item sees, with the texts of these."""

    @property
    def correlated(self) -> bool:
        return bool(self.correl)

    @property
    def row_fields(self) -> list[tuple[str, LogicalType]]:
        """The columns in order, under the names that they have in a join: repeated ones are numbered."""
        fields = [f for n in self.namespaces for f in n.row_type.fields]
        return list(zip(uniquify(f.name for f in fields), (f.type for f in fields), strict=True))

    def visible(self) -> Iterator[tuple[str, RexNode]]:
        """The columns of ``*``: merged ones first, each once."""
        hidden = {i for m in self.merged for i in m.hidden}
        for m in self.merged:
            yield m.name, m.expr if m.of_all is None else m.of_all
        for namespace in self.namespaces:
            for i, f in enumerate(namespace.row_type.fields):
                if namespace.offset + i not in hidden and i not in namespace.hidden:
                    yield f.name, InputRef(namespace.offset + i, f.type)

    def columns_of(self, qualifier: tuple[str, ...]) -> list[tuple[str, RexNode]] | None:
        """The columns of ``qualifier.*``."""
        for namespace in self.namespaces:
            if namespace.matches(qualifier):
                return [
                    (f.name, InputRef(namespace.offset + i, f.type))
                    for i, f in enumerate(namespace.row_type.fields)
                    if i not in namespace.hidden
                ]
        return None

    def resolve(self, parts: Sequence[Identifier]) -> RexNode:
        """The column, or nested field, that a chain of identifiers names.

        The name of a table, be it an outer one, goes before that of a column: Calcite's ``DelegatingScope``.
        Raises :class:`BindError` if there is none, or several.
        """
        for find in (Scope._qualified, Scope._unqualified):
            scope: Scope | None = self
            while scope is not None:
                rex = find(scope, parts)
                if rex is not None:
                    return rex if scope is self else _correlated(rex, scope, parts)
                scope = scope.outer
        raise self._missing(parts)

    def _qualified(self, parts: Sequence[Identifier]) -> RexNode | None:
        names = tuple(p.name for p in parts)
        for length in range(len(names) - 1, 0, -1):
            for namespace in self.namespaces:
                if namespace.matches(names[:length]):
                    column = _column(namespace, parts[length])
                    if column is not None:
                        return nested(column, parts[length + 1 :])
        return None

    def _unqualified(self, parts: Sequence[Identifier]) -> RexNode | None:
        name = parts[0].name
        merged = [m for m in self.merged if m.name == name and m.is_named]
        hidden = {i for m in merged for i in m.hidden}
        candidates: list[RexNode] = [m.expr for m in merged]
        owners = ["JOIN … USING"] * len(candidates)
        for namespace in self.namespaces:
            column = _column(namespace, parts[0])
            if column is not None and not (isinstance(column, InputRef) and column.index in hidden):
                candidates.append(column)
                owners.append(namespace.alias or "?")
        if len(candidates) > 1:
            raise BindError(
                f"the column '{name}' is ambiguous: it is in {' and in '.join(owners)}",
                parts[0].span,
                f"qualify it: {owners[0]}.{name}",
            )
        return nested(candidates[0], parts[1:]) if candidates else None

    def _missing(self, parts: Sequence[Identifier]) -> BindError:
        names = tuple(p.name for p in parts)
        for length in range(len(names) - 1, 0, -1):
            for namespace in self.namespaces:
                if namespace.matches(names[:length]):
                    return BindError(
                        f"there is no column '{names[length]}' in '{'.'.join(names[:length])}'",
                        parts[length].span,
                        did_you_mean(names[length], namespace.row_type.field_names),
                    )
        if names[0] in self.aliases:
            return BindError(
                f"'{names[0]}' is an alias of the SELECT list, which only ORDER BY and QUALIFY can read",
                parts[0].span,
                f"repeat what it stands for: {self.aliases[names[0]]}; or put the SELECT into a subquery",
            )
        columns = [n for n, _ in self.visible()]
        if len(names) > 1:
            aliases = [n.alias for n in self.namespaces if n.alias]
            return BindError(
                f"there is no table, alias or row column '{names[0]}' to take '{'.'.join(names[1:])}' from",
                parts[0].span,
                did_you_mean(names[0], [*aliases, *columns]),
            )
        tables = " or ".join(dict.fromkeys(f"'{n.alias}'" for n in self.namespaces if n.alias)) or "this query"
        return BindError(
            f"there is no column '{names[0]}' in {tables}",
            parts[0].span,
            did_you_mean(names[0], columns),
            in_flink=(SQL_VALIDATOR, f"Column '{names[0]}' not found in any table"),
        )


def _column(namespace: Namespace, part: Identifier) -> RexNode | None:
    """The column of a name; else the field of that name inside a column that is a row, as deep as it may be.

    Raises :class:`BindError` if several columns, or fields of one depth, have the name.  Source: Calcite's
    ``DelegatingScope``.
    """
    if namespace.row_type.field_names.count(part.name) > 1:
        raise BindError(
            f"the column '{part.name}' is ambiguous: there are two of that name",
            part.span,
            "give the first of them another name in a subquery",
        )
    paths = sorted(_paths(namespace.row_type, part.name), key=len)
    if not paths:
        return None
    if len(paths) > 1 and len(paths[0]) == len(paths[1]):
        raise BindError(
            f"the column '{part.name}' is ambiguous: it is '{'.'.join(paths[0])}' and '{'.'.join(paths[1])}'",
            part.span,
            f"write {'.'.join(paths[0])}",
        )
    first, *inner = paths[0]
    index = namespace.row_type.field_names.index(first)
    rex: RexNode = InputRef(namespace.offset + index, namespace.row_type.fields[index].type)
    for name in inner:
        rex = field_access(rex, name)
    return rex


def _paths(t: LogicalType, name: str) -> list[tuple[str, ...]]:
    """The ways from a row to its field of a name, or to fields of that name inside its fields."""
    if name in t.field_names:
        return [(name,)]
    return [(f.name, *path) for f in t.row_fields for path in _paths(f.type, name)]


def nested(rex: RexNode, fields: Sequence[Identifier]) -> RexNode:
    """A field of a field … of a row.  Raises :class:`BindError` where there is none."""
    for part in fields:
        if not rex.type.fields:
            raise BindError(
                f"a {rex.type.nullable_()} has no fields to take '{part.name}' from",
                part.span,
                "a ROW has fields; a key of a map or a position in an array stands in brackets: a['key']",
            )
        if part.name not in rex.type.field_names:
            raise BindError(
                f"there is no field '{part.name}' in {rex.type}",
                part.span,
                did_you_mean(part.name, rex.type.field_names),
            )
        rex = field_access(rex, part.name)
    return rex


def _correlated(rex: RexNode, scope: Scope, parts: Sequence[Identifier]) -> RexNode:
    """A column of an outer row, read through the scope's correlation variable.

    Each reference takes a number, as in Calcite, but all of a scope share the first.  Of grouped rows only columns that
    they are grouped by can be read; Flink takes whatever stands at the column's place in the group's row.
    """
    assert scope.new_correlation is not None
    name = scope.new_correlation()
    scope.correl = scope.correl or name
    fields = scope.row_fields
    columns: Sequence[RexNode] = [InputRef(i, t) for i, (_, t) in enumerate(fields)]
    if scope.grouping is not None:
        columns = scope.grouping
        names = (fields[c.index][0] if isinstance(c, InputRef) else "EXPR$" for c in columns)
        fields = list(zip(uniquify(names), (c.type for c in columns), strict=True))
    variable = CorrelVariable(scope.correl, row(fields, nullable=False))

    def replace(node: RexNode) -> RexNode:
        if not isinstance(node, InputRef):
            return node
        if node not in columns:
            name = ".".join(p.name for p in parts)
            raise BindError(
                f"the column '{name}' of the outer query is not grouped, so no subquery can read it",
                parts[0].span.to(parts[-1].span),
                "add it to GROUP BY",
            )
        return FieldAccess(variable.type.field_names[columns.index(node)], variable)

    return transform(rex, replace)
