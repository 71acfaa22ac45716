"""The base of the syntax tree: nodes with spans, identifiers, names, hints, data types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, TypeVar

from ....plan.record import PartlyCompared, replace
from ..source import NO_SPAN, Span

T = TypeVar("T", bound="Node")


class Node(PartlyCompared, kw_only=True, gc=False):
    """A part of the syntax tree. Two nodes are equal when they say the same, wherever they stand."""

    span: Span = NO_SPAN

    apart: ClassVar[frozenset[str]] = frozenset({"span"})

    def children(self) -> Iterator[Node]:
        """The nodes directly below this one, in the order of their fields."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, Node):
                yield value
            elif isinstance(value, tuple):
                yield from (element for element in value if isinstance(element, Node))

    def walk(self) -> Iterator[Node]:
        """This node and all below it, parents first."""
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(list(node.children())))

    def rewritten(self, rule: Callable[[Node], Node]) -> Node:
        """The tree with what the rule makes of each node; below one that it changes nothing else is changed."""
        new = rule(self)
        if new is not self:
            return new
        changes: dict[str, object] = {}
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, Node):
                changes[name] = value.rewritten(rule)
            elif isinstance(value, tuple):
                changes[name] = tuple(e.rewritten(rule) if isinstance(e, Node) else e for e in value)
        return replace(self, **changes)


class Identifier(Node):
    """One simple identifier, as Flink compares it: case-sensitive, without its backquotes."""

    name: str
    quoted: bool = False

    apart: ClassVar[frozenset[str]] = frozenset({"span", "quoted"})

    def __str__(self) -> str:
        return self.name


class Name(Node):
    """A compound identifier such as ``catalog.database.table`` or ``my_function``."""

    parts: tuple[Identifier, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The parts as plain strings."""
        return tuple(part.name for part in self.parts)

    def __str__(self) -> str:
        return ".".join(self.names)


class Option(Node):
    """``'key' = 'value'`` in WITH (…), in a hint or in a PARTITION clause."""

    key: str
    value: str


class Hint(Node):
    """One hint of ``/*+ … */``; its name is upper case. It has options or plain arguments or nothing."""

    name: str
    options: tuple[Option, ...] = ()
    arguments: tuple[str, ...] = ()


class IntervalQualifier(Node):
    """``DAY(2) TO SECOND(3)``: units upper case and singular; ``end_unit`` is None for a single unit.

    ``precision`` is the leading precision, ``fraction`` the precision of the fractional seconds.
    """

    unit: str
    end_unit: str | None = None
    precision: int | None = None
    fraction: int | None = None


class RowField(Node):
    """A field of a ROW or STRUCTURED type."""

    name: Identifier
    type: DataType
    comment: str | None = None


class DataType(Node):
    """A data type as written, spelled canonically but not resolved.

    ``name`` is Flink's name in upper case (``INT``, ``STRING``, ``BYTES``, ``DECIMAL``, ``TIMESTAMP``,
    ``TIMESTAMP_LTZ``, ``TIMESTAMP_TZ``, ``ARRAY``, ``MAP``, ``MULTISET``, ``ROW``, ``INTERVAL``, ``RAW``,
    ``STRUCTURED`` …): ``INTEGER`` is INT, ``NUMERIC`` and ``DEC`` are DECIMAL, ``DOUBLE PRECISION`` is
    DOUBLE, ``TIMESTAMP(3) WITH LOCAL TIME ZONE`` is TIMESTAMP_LTZ with ``args`` (3,). A user-defined type
    has the name as written and its parts in ``user_type``.
    ``args`` are the numbers in parentheses (two strings for RAW, the class name for STRUCTURED);
    ``elements`` the element type, or the key and value types of a MAP; ``fields`` those of a ROW.
    """

    name: str
    args: tuple[int | str, ...] = ()
    nullable: bool = True
    elements: tuple[DataType, ...] = ()
    fields: tuple[RowField, ...] = ()
    interval: IntervalQualifier | None = None
    user_type: Name | None = None
