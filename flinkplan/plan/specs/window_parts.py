"""How assigners, triggers and evictors of the DataStream API's windows are declared: see ``stream_windows.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, ClassVar, TypeVar

from msgspec import NODEFAULT
from msgspec.structs import fields

from ..codec import PlanRecord
from ..durations import parse_iso_duration
from ..record import Record
from ..references import Input
from ..rex import RexNode


class Argument(Record):
    """How a pipeline's YAML gives a field of an assigner, trigger or evictor.

    A part's first argument with ``names_part`` is the key that the part is recognized by.
    """

    key: str
    description: str
    names_part: bool = False
    noun: str = ""
    """What messages call the value; the key where it is empty."""
    needed: str = ""
    """What the part needs where a required argument is missing, for the message; 'a KEY' where it is empty."""
    example: str = ""
    """An example of the whole part, for the hint of that message."""
    positive: bool = False
    """Whether the number or duration must be greater than 0."""
    per_row: bool = False
    """Whether the value reaches the implementation with each row instead of as an argument of its constructor."""


class WindowPart(PlanRecord):
    """What assigners, triggers and evictors have in common."""

    keyword: ClassVar[str] = ""
    """The word that stands for a part without arguments in a pipeline's YAML."""

    def problem(self) -> tuple[str, str | None] | None:
        """Why Flink refuses these values, and a hint; ``None`` where it accepts them."""
        return None


P = TypeVar("P", bound=WindowPart)


class ValueKind(Enum):
    """What the value of an argument is."""

    DURATION = "duration"
    COUNT = "count"
    NUMBER = "number"
    FLAG = "flag"
    ROW_EXPRESSION = "row expression"
    """An expression over one row: milliseconds."""
    PAIR_EXPRESSION = "pair expression"
    """An expression over two rows: a number."""
    TRIGGER = "trigger"


_KINDS = {str: ValueKind.DURATION, int: ValueKind.COUNT, float: ValueKind.NUMBER, bool: ValueKind.FLAG}


class DeclaredArgument(Record):
    """An argument with the field that it gives."""

    argument: Argument
    name: str
    kind: ValueKind
    default: Any
    """``NODEFAULT`` where the argument is required."""

    @property
    def required(self) -> bool:
        return self.default is NODEFAULT


@cache
def declared_arguments(part: type[WindowPart]) -> tuple[DeclaredArgument, ...]:
    """The declared arguments of a part, in the order of its fields."""
    return tuple(
        DeclaredArgument(mark, info.name, _value_kind(info.type), info.default)
        for info in fields(part)
        for mark in getattr(info.type, "__metadata__", ())
        if isinstance(mark, Argument)
    )


def _value_kind(hint: Any) -> ValueKind:
    """The kind of an annotated field's value."""
    if hint.__origin__ in _KINDS:
        return _KINDS[hint.__origin__]
    if isinstance(hint.__origin__, type) and issubclass(hint.__origin__, WindowPart):
        return ValueKind.TRIGGER
    return ValueKind.PAIR_EXPRESSION if Input.PAIR in hint.__metadata__ else ValueKind.ROW_EXPRESSION


def declared_parts(base: type[P]) -> tuple[type[P], ...]:
    """The parts that a pipeline's YAML can name without a Python class, in the order of their declaration."""
    variants: Mapping[str, type[P]] = base.__tag__  # type: ignore[attr-defined]
    return tuple(part for part in variants.values() if part.keyword or declared_arguments(part))


def constructor_arguments(
    part: WindowPart, nested: Callable[[Any], Any], compiled: Callable[[RexNode], Any]
) -> Iterator[Any]:
    """The fields that construct a part's implementation, in the order of their declaration; durations are milliseconds.

    ``nested`` constructs a nested trigger, ``compiled`` compiles an expression over two rows.
    """
    for declared in declared_arguments(type(part)):
        value = getattr(part, declared.name)
        if declared.argument.per_row:
            continue
        if declared.kind is ValueKind.DURATION:
            value = parse_iso_duration(value)
        elif declared.kind is ValueKind.TRIGGER:
            value = nested(value)
        elif declared.kind is ValueKind.PAIR_EXPRESSION:
            value = compiled(value)
        yield value
