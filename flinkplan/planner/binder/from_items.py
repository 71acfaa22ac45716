"""Bound items of FROM."""

from __future__ import annotations

from collections.abc import Collection

from ...plan.record import Record, replace
from ...plan.rex import CorrelVariable, FieldAccess, RexNode, transform
from ...plan.types import LogicalType, row
from ..algebra.logical import Correlate, Filter, Join, Lateral, TemporalJoin, Values
from ..algebra.names import uniquify
from ..algebra.rel import Rel
from ..sql import ast
from .columns import rename, renamed
from .scope import MergedColumn, Namespace


class FromItem(Record):
    """A bound item of FROM: its relation, the names of its columns, and its name in hints."""

    rel: Rel
    namespaces: tuple[Namespace, ...]
    merged: tuple[MergedColumn, ...] = ()
    name: str | None = None
    unnested: tuple[tuple[str, int, LogicalType], ...] = ()
    """For each UNNEST the correlation variable, its first column and its row type."""

    def with_whole_rows(self) -> Rel:
        """The relation, with UNNESTs that read rows of all columns of FROM, as the validator types them."""
        if not self.unnested:
            return self.rel
        fields = [f for n in self.namespaces for f in n.row_type.fields]
        for _, first, t in self.unnested:
            fields[first : first + len(t.fields)] = t.fields
        row_type = row(zip(uniquify(f.name for f in fields), (f.type for f in fields), strict=True), nullable=False)
        return _reading(self.rel, {name for name, _, _ in self.unnested}, row_type)


def _reading(rel: Rel, names: Collection[str], t: LogicalType) -> Rel:
    """The relation with type ``t`` for the correlation variables of these names."""

    def retyped(rex: RexNode) -> RexNode:
        if not isinstance(rex, FieldAccess) or not isinstance(rex.expr, CorrelVariable):
            return rex
        index = rex.expr.type.field_names.index(rex.name)
        return FieldAccess(t.field_names[index], replace(rex.expr, type=t))

    match rel:
        case Correlate():
            call = transform(rel.call, retyped) if rel.correl in names else rel.call
            return replace(rel, input=_reading(rel.input, names, t), call=call)
        case Filter():
            return replace(rel, input=_reading(rel.input, names, t))
        case Join() | Lateral() | TemporalJoin():
            return replace(rel, left=_reading(rel.left, names, t))
    return rel


def named_item(
    rel: Rel, row_type: LogicalType, alias: ast.TableAlias | None, name: str | None, path: tuple[str, ...] = ()
) -> FromItem:
    """The relation with the column names of its alias; only VALUES are renamed in place."""
    if alias is not None:
        name = alias.name.name
        if alias.columns:
            row_type = renamed(rel, alias.columns, alias.name)
    if isinstance(rel, Values):
        rel = rename(rel, row_type)
    return FromItem(rel, (Namespace(row_type, 0, name, path),), name=name)
