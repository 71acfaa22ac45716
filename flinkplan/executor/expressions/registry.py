"""The registry of scalar functions: how a call becomes a Spark column.

A function is known by its syntax and internal name.  Its builder gets an :class:`Invocation` (the types
and constants of the call) and its operands as columns:

    @scalar("$POSITION$1")
    def position(call: Invocation, part: Column, text: Column) -> Column: ...

:func:`native` and :func:`kernel` register the many functions that are one Spark function or one Java
method, with no more to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from ...plan.errors import UnsupportedError
from ...plan.record import Record
from ...plan.rex import FUNCTION, Call, Literal, RexNode
from ...plan.types import LogicalType
from ..jvm.types import spark_type
from .jvm import invoke

if TYPE_CHECKING:
    from pyspark.sql import Column


class Invocation(Record):
    """A call about to become a column: the call, the session's time zone, and Flink's watermark (epoch ms).

    ``watermark`` is ``None`` where rows do not carry it.  ``legacy_casts``: CAST never fails.
    """

    call: Call
    time_zone: str
    watermark: Column | None = None
    legacy_casts: bool = False

    @property
    def type(self) -> LogicalType:
        """The type of the result."""
        return self.call.type

    @property
    def types(self) -> tuple[LogicalType, ...]:
        """The types of the operands."""
        return tuple(o.type for o in self.call.operands)

    @property
    def name(self) -> str:
        """The function's name as SQL spells it."""
        return sql_name(self.call.name)

    def symbol(self, index: int) -> str:
        """The enum constant that the operand at ``index`` is."""
        return str(self.constant(index))

    def is_literal(self, index: int) -> bool:
        """Whether the operand at ``index`` is a literal."""
        return isinstance(self.call.operands[index], Literal)

    def constant(self, index: int) -> Any:
        """The value of the literal operand at ``index``.  Raises :class:`UnsupportedError` on any other operand."""
        return constant_of(self.call, index)


def constant_of(call: Call, index: int) -> Any:
    """The value of the literal operand at ``index``.  Raises :class:`UnsupportedError` on any other operand."""
    operand: RexNode | None = next(iter(call.operands[index : index + 1]), None)
    if not isinstance(operand, Literal):
        raise UnsupportedError(
            f"operand {index + 1} of {sql_name(call.name)} must be a literal", hint="write its value, as Flink asks for"
        )
    return operand.value


Builder: TypeAlias = "Callable[..., Column]"
Check = Callable[[Call], None]


def literal_operands(positions: Callable[[Call], Iterable[int]]) -> Check:
    """The check that the operands of a call at these positions are literals."""

    def check(call: Call) -> None:
        for index in positions(call):
            constant_of(call, index)

    return check


class Implementation(Record):
    """How a function is done: its builder, and whether its rows go through a Java kernel.

    ``check`` raises :class:`UnsupportedError` for a call that is not done, which takes no Spark to tell.
    """

    build: Builder
    kernel: bool = False
    check: Check | None = None


REGISTRY: dict[tuple[str, str], Implementation] = {}
"""(syntax, internal name) → implementation; filled by the modules of this package."""


def sql_name(internal: str) -> str:
    """The SQL name within an internal name: ``$UPPER$1`` → ``UPPER``."""
    return internal.strip("$").rsplit("$", 1)[0]


def _register(names: Iterable[str], syntax: str, implementation: Implementation) -> None:
    for name in names:
        if (syntax, name) in REGISTRY:
            raise ValueError(f"{syntax} {name} is registered twice")
        REGISTRY[syntax, name] = implementation


def scalar(
    *names: str, syntax: str = FUNCTION, kernel: bool = False, check: Check | None = None
) -> Callable[[Builder], Builder]:
    """Register the decorated builder for ``names``."""

    def register(build: Builder) -> Builder:
        _register(names, syntax, Implementation(build, kernel, check))
        return build

    return register


def native(name: str, function: Callable[..., Column], syntax: str = FUNCTION) -> None:
    """Register a function that is a Spark function of the same operands."""
    _register([name], syntax, Implementation(lambda call, *operands: function(*operands)))


def kernel(name: str, method: str, syntax: str = FUNCTION) -> None:
    """Register a function that is the Java method ``method`` (``Strings.initcap``) of the same operands.

    It yields NULL where an operand is NULL.
    """

    def build(call: Invocation, *operands: Column) -> Column:
        return invoke(method, spark_type(call.type), *operands)

    _register([name], syntax, Implementation(build, kernel=True))
