"""Dataclasses to and from a plan's JSON, driven by their field declarations.

A field's Python type says how its value is read; its JSON name is its name in camel case unless
``plan_field(json=…)`` says otherwise.  A field without default is always written (``null`` for ``None``);
one with a default is left out while it has that default, as Flink does.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from .errors import PlanError
from .rex import RexNode, rex_from_json, rex_to_json
from .type_json import type_from_json, type_to_json
from .types import LogicalType

Reader = Callable[[Any], Any]
Writer = Callable[[Any], Any]

_REX = set(typing.get_args(RexNode))


def plan_field(*, json: str | None = None, place: str = "own", **kwargs: Any) -> Any:
    """A dataclass field with its JSON name and its place in an exec node.

    ``place`` is ``own`` (before the input properties), ``inputs`` (right after them) or ``last`` (after the
    description).
    """
    return dataclasses.field(metadata={"json": json, "place": place}, **kwargs)


def unknown_fields() -> Any:
    """A field that keeps what the JSON holds beyond the declared fields, as Flink ignores it."""
    return dataclasses.field(default_factory=dict, metadata={"unknown": True}, hash=False)


def aside(**kwargs: Any) -> Any:
    """A dataclass field that is no field of the JSON, and does not count where values are compared."""
    return dataclasses.field(compare=False, metadata={"aside": True}, **kwargs)


def camel(name: str) -> str:
    """``left_upsert_keys`` → ``leftUpsertKeys``."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)


@dataclasses.dataclass(frozen=True, slots=True)
class FieldCodec:
    """How one dataclass field is read and written."""

    name: str
    json: str
    place: str
    default: Any
    read: Reader
    write: Writer

    @property
    def always_written(self) -> bool:
        return self.default is dataclasses.MISSING


_field_codecs: dict[type, tuple[FieldCodec, ...]] = {}


def field_codecs(cls: type) -> tuple[FieldCodec, ...]:
    """The codecs of a dataclass's fields, in declaration order."""
    found = _field_codecs.get(cls)
    if found is None:
        found = _field_codecs[cls] = _derive_field_codecs(cls)
    return found


def _derive_field_codecs(cls: Any) -> tuple[FieldCodec, ...]:
    hints = typing.get_type_hints(cls)
    found = []
    for f in dataclasses.fields(cls):
        if f.metadata.get("unknown") or f.metadata.get("aside"):
            continue
        read, write = _codec(hints[f.name])
        json_name = f.metadata.get("json") or camel(f.name)
        found.append(FieldCodec(f.name, json_name, f.metadata.get("place", "own"), f.default, read, write))
    return tuple(found)


def read_object(cls: type, json: Any) -> Any:
    """Read a dataclass.  Raises :class:`PlanError` on a missing, unknown or malformed field."""
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
    unknown = {k: v for k, v in json.items() if k not in known}
    if unknown:
        keeper = unknown_keeper(cls)
        if keeper is None:
            raise PlanError(f"unknown field '{min(unknown)}'")
        values[keeper] = unknown
    return cls(**values)


def unknown_keeper(cls: Any) -> str | None:
    """The name of the field declared by :func:`unknown_fields`, if there is one."""
    return next((f.name for f in dataclasses.fields(cls) if f.metadata.get("unknown")), None)


def read_field(codec: FieldCodec, value: Any) -> Any:
    """Read one field's value, naming the field in the error."""
    try:
        return codec.read(value)
    except PlanError as e:
        raise PlanError(f"{codec.json}: {e.message}", where=e.where, hint=e.hint) from None
    except (TypeError, ValueError, KeyError, AttributeError) as e:
        raise PlanError(f"{codec.json}: {e} in {value!r:.60}") from None


def write_object(value: Any) -> dict[str, Any]:
    """Write a dataclass, fields in declaration order."""
    out: dict[str, Any] = {}
    cls = type(value)
    if tag := getattr(cls, "__tag_value__", None):
        out[cls.__tag_name__] = tag
    for codec in field_codecs(cls):
        item = getattr(value, codec.name)
        if codec.always_written or item != codec.default:
            out[codec.json] = codec.write(item)
    if keeper := unknown_keeper(cls):
        out.update(getattr(value, keeper))
    return out


# ---------------------------------------------------------------- tagged unions


def tagged_union(tag: str) -> Callable[[type], type]:
    """Mark a base class whose subclasses are told apart by the JSON field ``tag``."""

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
    found = variants.get(json.get(name, ""))
    if found is None:
        raise PlanError(f"'{name}' is {json.get(name)!r}; known are {', '.join(sorted(variants))}")
    return found


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
        return (_text_mapping if args[1] is str else _mapping), dict
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum(hint), lambda v: v.value
    if dataclasses.is_dataclass(hint):
        return lambda v: read_object(typing.cast(type, hint), v), write_object
    if hint in (int, str, bool):
        return _scalar(hint), _same
    raise TypeError(f"no JSON codec for {hint}")


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


_JSON_NAMES = {int: "a whole number", str: "a text", bool: "true or false"}


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise PlanError(f"expected a list, found {value!r:.60}")
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise PlanError(f"expected an object, found {value!r:.60}")
    return dict(value)


def _text_mapping(value: Any) -> dict[str, str]:
    found = _mapping(value)
    for key, text in found.items():
        if not isinstance(text, str):
            raise PlanError(f"{key}: expected a text, found {text!r:.60}")
    return found
