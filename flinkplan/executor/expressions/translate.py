"""From a row expression to a Spark column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...plan.errors import UnsupportedError
from ...plan.functions import is_deterministic
from ...plan.functions.java import JavaFunction, java_function_of
from ...plan.record import Record, field
from ...plan.rex import Call, CorrelVariable, FieldAccess, InputRef, Literal, OpaqueRex, RexNode, Sarg, walk
from ..jvm.types import field_name
from .literals import literal
from .registry import REGISTRY, Invocation, sql_name

if TYPE_CHECKING:
    from pyspark.sql import Column


JavaCalls: TypeAlias = "Callable[[Call, JavaFunction, Sequence[Column]], Column]"
"""Makes the columns of calls of functions in Java."""


class Translator(Record):
    """Translates expressions over one input row; ``made`` are those of calls, which may stand in several places."""

    inputs: Sequence[Column]
    time_zone: str
    watermark: Column | None = None
    legacy_casts: bool = False
    java: JavaCalls | None = None
    made: dict[Call, Column] = field(default_factory=dict)

    def column(self, rex: RexNode) -> Column:
        """The column of ``rex``.  Raises :class:`UnsupportedError` naming what cannot be done."""
        match rex:
            case InputRef(index=index):
                return self.inputs[index]
            case Literal():
                return literal(rex)
            case FieldAccess(name=name, expr=expr):
                return self.column(expr).getField(field_name(expr.type.field_names.index(name)))
            case Call() if rex in self.made:
                return self.made[rex]
            case Call():
                made = self.call(rex)
                if is_deterministic(rex):
                    self.made[rex] = made
                return made
            case Sarg():
                raise UnsupportedError("a search argument stands only inside SEARCH")
            case OpaqueRex(kind=kind):
                raise UnsupportedError(f"expressions of the kind {kind} are not supported")
            case CorrelVariable(correl=correl):
                raise UnsupportedError(f"the outer row {correl} is not an input of this operator")
        raise TypeError(f"no plan holds {rex!r:.80}")

    def call(self, call: Call) -> Column:
        """The column of a call."""
        function = java_function_of(call)
        if function is not None and self.java is not None:
            return self.java(call, function, list(map(self.column, call.operands)))
        if call.reference is not None:
            name = next((str(v) for v in call.reference.values() if isinstance(v, str)), "?")
            raise UnsupportedError(f"the user-defined function '{name}' cannot be called here")
        implementation = REGISTRY.get(call.key)
        if implementation is None:
            raise UnsupportedError(
                f"the function {sql_name(call.name)} is not supported", hint="docs/functions.md lists those that are"
            )
        if implementation.check is not None:
            implementation.check(call)
        operands = [self.operand(o) for o in call.operands]
        invocation = Invocation(call, self.time_zone, self.watermark, self.legacy_casts)
        return implementation.build(invocation, *(o for o in operands if o is not None))

    def operand(self, rex: RexNode) -> Column | None:
        """The column of an operand; ``None`` for a symbol or a search argument, which have no value."""
        if isinstance(rex, Sarg) or (isinstance(rex, Literal) and rex.symbol):
            return None
        return self.column(rex)


def to_column(
    rex: RexNode,
    inputs: Sequence[Column],
    *,
    time_zone: str = "UTC",
    watermark: Column | None = None,
    legacy_casts: bool = False,
    java: JavaCalls | None = None,
) -> Column:
    """The Spark column that computes ``rex`` as Flink does.

    ``inputs`` are the columns of the input row, held as :mod:`..types` says; ``time_zone`` is the session's
    ``table.local-time-zone``; ``watermark`` is Flink's watermark at each row (epoch ms, NULL: none yet) where rows
    carry it; ``legacy_casts`` is the session's ``table.exec.legacy-cast-behaviour``; ``java`` calls
    functions in Java.  The Spark session must run
    with ANSI mode off and the zone UTC, and have the runtime's jar.  Raises :class:`UnsupportedError`, naming the
    function, for what cannot be done.
    """
    return Translator(inputs, time_zone, watermark, legacy_casts, java).column(rex)


def check_expression(rex: RexNode) -> None:
    """Raise :class:`UnsupportedError` for a call that its function's implementation knows it cannot do."""
    for part in walk(rex):
        implementation = REGISTRY.get(part.key) if isinstance(part, Call) else None
        if implementation is not None and implementation.check is not None:
            implementation.check(part)  # type: ignore[arg-type]
