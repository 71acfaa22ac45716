"""The columns that a window operator reads, collected while the window is bound."""

from __future__ import annotations

from typing import Any, TypeVar

from ....plan import specs
from ....plan.record import replace
from ....plan.rex import InputRef, RexNode, input_refs, transform
from ....plan.specs.window_parts import ValueKind, WindowPart, declared_arguments
from ....plan.types import LogicalType
from ...algebra.logical import Project
from ...algebra.names import uniquify
from ...algebra.rel import Rel
from ...sql import ast
from ..context import Context
from ..errors import BindError
from ..expressions import ExpressionBinder
from ..scope import Namespace, Scope

P = TypeVar("P", bound=WindowPart)

_SECOND = 1 << 20
"""The offset of the columns of the second of two rows, until the width of the first is known."""


class WindowRows:
    """Columns and expressions over source rows, in the order of their first use."""

    def __init__(self, context: Context, row_type: LogicalType) -> None:
        self.context = context
        self.row_type = row_type
        self.scope = Scope((Namespace(row_type, 0, None),))
        self.inputs: list[tuple[RexNode, str | None]] = []

    @property
    def pair(self) -> Scope:
        """The columns of two rows, ``a`` and ``b``."""
        return Scope((Namespace(self.row_type, 0, "a"), Namespace(self.row_type, len(self.row_type.fields), "b")))

    def column(self, node: ast.ColumnRef, clause: str) -> int:
        """The position of a named source column.  Raises :class:`BindError` for anything else."""
        rex = ExpressionBinder(self.context, self.scope, clause).bind(node)
        if not isinstance(rex, InputRef):
            raise BindError(f"{clause} is a column, '{node.span.text}' is none", node.span, "compute it in a view")
        return rex.index

    def read(self, rex: RexNode) -> int:
        """The position, among the columns that the operator reads, of an expression over source columns."""
        for i, (known, _) in enumerate(self.inputs):
            if known == rex:
                return i
        name = self.row_type.fields[rex.index].name if isinstance(rex, InputRef) else None
        self.inputs.append((rex, name))
        return len(self.inputs) - 1

    def place(self, column: int) -> int:
        """The same for a source column."""
        return self.read(InputRef(column, self.row_type.fields[column].type))

    def relation(self, source: Rel) -> Rel:
        """The relation that the operator reads."""
        names = uniquify(name for _, name in self.inputs)
        exprs = tuple(rex for rex, _ in self.inputs)
        return Project(input=source, exprs=exprs, names=names)

    def over_rows(self, rex: RexNode) -> RexNode:
        """An expression over the columns of one or two source rows in terms of the operator's rows."""
        width = len(self.row_type.fields)
        places = {i: self.place(i % width) for i in sorted(input_refs(rex))}

        def moved(part: RexNode) -> RexNode:
            if not isinstance(part, InputRef):
                return part
            return replace(part, index=places[part.index] + (_SECOND if part.index >= width else 0))

        return transform(rex, moved)

    def _settled(self, rex: RexNode) -> RexNode:
        """An expression over two rows with final column positions."""
        width = len(self.inputs)

        def moved(part: RexNode) -> RexNode:
            if isinstance(part, InputRef) and part.index >= _SECOND:
                return replace(part, index=part.index - _SECOND + width)
            return part

        return transform(rex, moved)

    def settled(self, part: P) -> P:
        """A part of the window with final column positions."""
        changes: dict[str, Any] = {}
        for declared in declared_arguments(type(part)):
            value = getattr(part, declared.name)
            if declared.kind is ValueKind.PAIR_EXPRESSION:
                changes[declared.name] = self._settled(value)
            elif declared.kind is ValueKind.TRIGGER:
                changes[declared.name] = self.settled(value)
        return replace(part, **changes)

    def settled_function(self, function: specs.WindowFunction) -> specs.WindowFunction:
        """A function with final column positions."""
        if isinstance(function, specs.ReduceFunction):
            return specs.ReduceFunction(tuple(map(self._settled, function.columns)))
        return function
