"""Reads and writes records as a plan's JSON, driven by their field declarations.

A field's Python type determines how its value is read; its JSON name is its name in camel case unless ``field(name=…)``
gives another one.  A field without a default is always written (``null`` for ``None``); a field with a default is left
out while it has that default, as in Flink.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, TypeVar

from msgspec import NODEFAULT
from msgspec.structs import fields

from .errors import PlanError
from .record import Json, Record, Struct
from .references import Input
from .rex import RexNode, rex_from_json, rex_to_json
from .types import LogicalType
from .types.json import type_from_json, type_to_json

Reader = Callable[[Any], Any]
Writer = Callable[[Any], Any]

_REX = set(typing.get_args(RexNode))


class Place(Enum):
    """The place of a field in the JSON of an exec node, given by an annotation of the field's type."""

    OWN = "own"
    """Before the input properties; the place of fields without annotation."""
    INPUTS = "inputs"
    """Right after the input properties."""
    LAST = "last"
    """After the description."""


class _Role(Enum):
    UNKNOWN = "unknown"
    ASIDE = "aside"


Unknown = Annotated[Json, _Role.UNKNOWN]
"""The type of the field that keeps undeclared keys of the JSON, which Flink ignores."""

T = TypeVar("T")
Aside = Annotated[T, _Role.ASIDE]
"""The type of a field that is not part of the JSON."""


def camel(name: str) -> str:
    """``left_upsert_keys`` → ``leftUpsertKeys``."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)


class PlanRecord(Record, rename=camel, gc=False):
    """A record that is an object in the plan's JSON."""


class FieldCodec(Record):
    """How one field of a record is read and written."""

    name: str
    json: str
    marks: tuple[Any, ...]
    type: Any
    """The type of its values, without annotations."""
    default: Any
    """The value for which the field is left out; ``NODEFAULT`` if the field is always written."""
    read: Reader
    write: Writer

    @property
    def place(self) -> Place:
        """The place of the field in the JSON of an exec node."""
        return next((mark for mark in self.marks if isinstance(mark, Place)), Place.OWN)

    @property
    def input(self) -> Input | None:
        """The row that its numbers and expressions refer to; ``None`` if the records in the field declare that."""
        return next((mark for mark in self.marks if isinstance(mark, Input)), None)

    @property
    def always_written(self) -> bool:
        return self.default is NODEFAULT


_field_codecs: dict[type, tuple[FieldCodec, ...]] = {}


def field_codecs(cls: Any) -> tuple[FieldCodec, ...]:
    """The codecs of a record's fields, in declaration order."""
    codecs = _field_codecs.get(cls)
    if codecs is None:
        codecs = _field_codecs[cls] = tuple(_derive_field_codecs(cls))
    return codecs


def _derive_field_codecs(cls: Any) -> Iterator[FieldCodec]:
    for info in fields(cls):
        hint, marks = _annotated(info.type)
        if not any(isinstance(mark, _Role) for mark in marks):
            yield FieldCodec(info.name, info.encode_name, marks, hint, info.default, *_codec(hint))


def _annotated(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without its annotations, and the annotations."""
    return (hint.__origin__, hint.__metadata__) if typing.get_origin(hint) is Annotated else (hint, ())


def read_object(cls: type, json: Any) -> Any:
    """Read a record.  Raises :class:`PlanError` on a missing, unknown or malformed field."""
    if not isinstance(json, Mapping):
        raise PlanError(f"expected an object, found {json!r:.60}")
    if "__tag__" in cls.__dict__:
        cls = _tagged(cls, json)
    values: dict[str, Any] = {}
    codecs = field_codecs(cls)
    for codec in codecs:
        if codec.json in json:
            values[codec.name] = read_field(codec, json[codec.json])
        elif codec.always_written:
            raise PlanError(f"the field '{codec.json}' is missing")
    known = {c.json for c in codecs} | {getattr(cls, "__tag_name__", None)}
    unknown = Json({k: v for k, v in json.items() if k not in known})
    if unknown:
        keeper = unknown_keeper(cls)
        if keeper is None:
            raise PlanError(f"unknown field '{min(unknown)}'")
        values[keeper] = unknown
    return cls(**values)


@cache
def unknown_keeper(cls: Any) -> str | None:
    """The name of the field of type :data:`Unknown`, if there is one."""
    return next((f.name for f in fields(cls) if _Role.UNKNOWN in _annotated(f.type)[1]), None)


def read_field(codec: FieldCodec, value: Any) -> Any:
    """Read the value of a field; errors name the field."""
    try:
        return codec.read(value)
    except PlanError as e:
        raise PlanError(f"{codec.json}: {e.message}", where=e.where, hint=e.hint) from None
    except (TypeError, ValueError, KeyError, AttributeError) as e:
        raise PlanError(f"{codec.json}: {e} in {value!r:.60}") from None


def write_object(value: Any) -> dict[str, Any]:
    """Write a record, fields in declaration order."""
    cls: Any = type(value)
    tag, written, keeper = _written(cls)
    out: dict[str, Any] = {**tag}
    for name, key, default, write in written:
        item = getattr(value, name)
        if item != default:
            out[key] = write(item)
    if keeper:
        out.update(getattr(value, keeper))
    return out


@cache
def _written(cls: Any) -> tuple[dict[str, str], tuple[tuple[str, str, Any, Writer], ...], str | None]:
    """The tag of a class of a union; the name, JSON name, default and writer of each field; the field for unknown
    keys.
    """
    tag = getattr(cls, "__tag_value__", None)
    written = tuple([(codec.name, codec.json, codec.default, codec.write) for codec in field_codecs(cls)])
    return {cls.__tag_name__: tag} if tag else {}, written, unknown_keeper(cls)


# ---------------------------------------------------------------- tagged unions


def tagged_union(tag: str) -> Callable[[type], type]:
    """Mark a base class whose subclasses are distinguished by the JSON field ``tag``."""

    def mark(cls: type) -> type:
        cls.__tag__ = {}  # type: ignore[attr-defined]
        cls.__tag_name__ = tag  # type: ignore[attr-defined]
        return cls

    return mark


def variant(value: str) -> Callable[[type], type]:
    """Register a subclass of a tagged union under its tag's value."""

    def mark(cls: type) -> type:
        cls.__tag_value__ = value  # type: ignore[attr-defined]
        cls.__tag__[value] = cls  # type: ignore[attr-defined]
        return cls

    return mark


def _tagged(cls: type, json: Mapping[str, Any]) -> type:
    name = cls.__tag_name__  # type: ignore[attr-defined]
    variants: dict[str, type] = cls.__dict__["__tag__"]
    variant_class = variants.get(json.get(name, ""))
    if variant_class is None:
        raise PlanError(f"'{name}' is {json.get(name)!r}; known are {', '.join(sorted(variants))}")
    return variant_class


# ---------------------------------------------------------------- by Python type


def _codec(hint: Any) -> tuple[Reader, Writer]:
    if hint is Any:
        return _same, _same
    if hint is LogicalType:
        return type_from_json, type_to_json
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint == RexNode or hint in _REX:
        return rex_from_json, rex_to_json
    if origin in (typing.Union, types.UnionType):
        return _optional(hint, args)
    if origin is tuple:
        item_read, item_write = _codec(args[0])
        return lambda v: tuple(map(item_read, _list(v))), lambda v: list(map(item_write, v))
    if origin in (Mapping, dict):
        return _mapping_codec(args[1])
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum(hint), lambda v: v.value
    if isinstance(hint, type) and issubclass(hint, Struct):
        return lambda v: read_object(typing.cast(type, hint), v), write_object
    if hint in (int, str, bool):
        return _scalar(hint), _same
    if hint is float:
        return _number, _same
    raise TypeError(f"no JSON codec for {hint}")


def _mapping_codec(values: Any) -> tuple[Reader, Writer]:
    if values in (str, Any):
        return (_text_mapping if values is str else _mapping), dict
    read, write = _codec(values)
    return (
        lambda v: Json({key: read(item) for key, item in _mapping(v).items()}),
        lambda v: {key: write(item) for key, item in v.items()},
    )


def _optional(hint: Any, args: tuple[Any, ...]) -> tuple[Reader, Writer]:
    if type(None) not in args:
        raise TypeError(f"no JSON codec for {hint}")
    rest = [a for a in args if a is not type(None)]
    inner = rest[0] if len(rest) == 1 else RexNode if set(rest) <= _REX else hint
    read, write = _codec(inner)
    return (lambda v: None if v is None else read(v)), (lambda v: None if v is None else write(v))


def _same(value: Any) -> Any:
    return value


def _enum(cls: type[Enum]) -> Reader:
    def read(value: Any) -> Any:
        try:
            return cls(value)
        except ValueError:
            raise PlanError(f"{value!r:.60} is none of {', '.join(str(e.value) for e in cls)}") from None

    return read


def _scalar(expected: type) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not expected:
            raise PlanError(f"expected {_JSON_NAMES[expected]}, found {value!r:.60}")
        return value

    return read


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise PlanError(f"expected a number, found {value!r:.60}")
    return float(value)


_JSON_NAMES = {int: "a whole number", str: "a text", bool: "true or false"}


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise PlanError(f"expected a list, found {value!r:.60}")
    return value


def _mapping(value: Any) -> Json:
    if not isinstance(value, Mapping):
        raise PlanError(f"expected an object, found {value!r:.60}")
    return Json(value)


def _text_mapping(value: Any) -> dict[str, str]:
    texts = _mapping(value)
    for key, text in texts.items():
        if not isinstance(text, str):
            raise PlanError(f"{key}: expected a text, found {text!r:.60}")
    return texts
