"""Logical types: Flink's SQL types, as a compiled plan spells them.

A type is written as text (``VARCHAR(2147483647) NOT NULL``, ``ROW<`a` INT>``) or, where text cannot say
it (time attributes, symbols, RAW and registered structured types), as a JSON object.
Source: Flink's ``LogicalTypeJsonSerializer`` and ``LogicalTypeParser``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from .errors import PlanError

STRING_LENGTH = 2_147_483_647


class TimeKind(Enum):
    """What a timestamp is to the query: data, an event-time attribute or a processing-time attribute."""

    REGULAR = "REGULAR"
    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"


@dataclass(frozen=True, slots=True)
class RowField:
    """A field of a row or structured type."""

    name: str
    type: LogicalType
    description: str | None = None


@dataclass(frozen=True, slots=True)
class LogicalType:
    """A logical type.

    ``root`` is the SQL name (``INT``, ``VARCHAR``, ``TIMESTAMP``, ``TIMESTAMP_LTZ``, ``ROW``, ``ARRAY`` …);
    ``length``/``precision``/``scale``, ``children`` (element, or key and value) and ``fields`` are set where
    the root takes them.  ``raw`` keeps the JSON of types that only the JVM understands.
    """

    root: str
    nullable: bool = True
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    children: tuple[LogicalType, ...] = ()
    fields: tuple[RowField, ...] = ()
    kind: TimeKind = TimeKind.REGULAR
    raw: Mapping[str, Any] | None = field(default=None, compare=True, hash=False)

    def __str__(self) -> str:
        return _text(self)

    def with_nullability(self, nullable: bool) -> LogicalType:
        """The same type, nullable or not."""
        return self if self.nullable == nullable else replace(self, nullable=nullable)

    def not_null(self) -> LogicalType:
        """The same type, NOT NULL."""
        return self.with_nullability(False)

    def nullable_(self) -> LogicalType:
        """The same type, nullable."""
        return self.with_nullability(True)

    def same_as(self, other: LogicalType) -> bool:
        """Equal but for nullability at the top."""
        return self.with_nullability(True) == other.with_nullability(True)

    @property
    def is_rowtime(self) -> bool:
        return self.kind is TimeKind.ROWTIME

    @property
    def is_proctime(self) -> bool:
        return self.kind is TimeKind.PROCTIME

    @property
    def is_time_attribute(self) -> bool:
        return self.kind is not TimeKind.REGULAR

    def regular(self) -> LogicalType:
        """The same timestamp, no longer a time attribute."""
        return replace(self, kind=TimeKind.REGULAR) if self.is_time_attribute else self

    @property
    def field_names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.fields)

    @property
    def field_types(self) -> tuple[LogicalType, ...]:
        return tuple(f.type for f in self.fields)

    @property
    def element(self) -> LogicalType:
        """The element type of an ARRAY or MULTISET."""
        return self.children[0]


def row(fields: Iterator[tuple[str, LogicalType]] | Any, nullable: bool = True) -> LogicalType:
    """A ROW type of (name, type) pairs."""
    return LogicalType("ROW", nullable, fields=tuple(RowField(n, t) for n, t in fields))


def string(nullable: bool = True) -> LogicalType:
    return LogicalType("VARCHAR", nullable, length=STRING_LENGTH)


def varchar(length: int, nullable: bool = True) -> LogicalType:
    return LogicalType("VARCHAR", nullable, length=length)


def char(length: int, nullable: bool = True) -> LogicalType:
    return LogicalType("CHAR", nullable, length=length)


def decimal(precision: int, scale: int, nullable: bool = True) -> LogicalType:
    return LogicalType("DECIMAL", nullable, precision=precision, scale=scale)


def timestamp(precision: int = 6, nullable: bool = True, kind: TimeKind = TimeKind.REGULAR) -> LogicalType:
    return LogicalType("TIMESTAMP", nullable, precision=precision, kind=kind)


def timestamp_ltz(precision: int = 6, nullable: bool = True, kind: TimeKind = TimeKind.REGULAR) -> LogicalType:
    return LogicalType("TIMESTAMP_LTZ", nullable, precision=precision, kind=kind)


def array(element: LogicalType, nullable: bool = True) -> LogicalType:
    return LogicalType("ARRAY", nullable, children=(element,))


def multiset(element: LogicalType, nullable: bool = True) -> LogicalType:
    return LogicalType("MULTISET", nullable, children=(element,))


def map_(key: LogicalType, value: LogicalType, nullable: bool = True) -> LogicalType:
    return LogicalType("MAP", nullable, children=(key, value))


BOOLEAN = LogicalType("BOOLEAN")
TINYINT = LogicalType("TINYINT")
SMALLINT = LogicalType("SMALLINT")
INT = LogicalType("INT")
BIGINT = LogicalType("BIGINT")
FLOAT = LogicalType("FLOAT")
DOUBLE = LogicalType("DOUBLE")
DATE = LogicalType("DATE")
STRING = string()
SYMBOL = LogicalType("SYMBOL", nullable=False)
NULL = LogicalType("NULL")

INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
APPROXIMATE = ("FLOAT", "DOUBLE")
NUMERIC = (*INTEGERS, "DECIMAL", *APPROXIMATE)
CHARACTER = ("CHAR", "VARCHAR")
BINARY_STRING = ("BINARY", "VARBINARY")
TIMESTAMPS = ("TIMESTAMP", "TIMESTAMP_LTZ")
DATETIME = ("DATE", "TIME", *TIMESTAMPS)

# ---------------------------------------------------------------- text

_LENGTH = {"CHAR", "VARCHAR", "BINARY", "VARBINARY"}
_SIMPLE = {"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "BITMAP", "VARIANT", "NULL"}


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(t: LogicalType) -> str:
    root = t.root
    if root in _LENGTH:
        body = f"{root}({t.length})"
    elif root == "DECIMAL":
        body = f"DECIMAL({t.precision}, {t.scale})"
    elif root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        body = f"TIMESTAMP({t.precision})"
        if root == "TIMESTAMP_LTZ":
            body += " WITH LOCAL TIME ZONE"
    elif root == "TIMESTAMP_TZ":
        body = f"TIMESTAMP({t.precision}) WITH TIME ZONE"
    elif root == "TIME":
        body = f"TIME({t.precision})"
    elif root.startswith("INTERVAL"):
        body = _interval_text(t)
    elif root in ("ARRAY", "MULTISET", "MAP"):
        body = f"{root}<{', '.join(map(str, t.children))}>"
    elif root == "ROW":
        body = f"ROW<{', '.join(map(_field_text, t.fields))}>"
    elif root == "STRUCTURED" and t.raw:
        body = f"STRUCTURED<'{t.raw['class']}', {', '.join(map(_field_text, t.fields))}>"
    elif root == "RAW" and t.raw and "class" in t.raw and "snapshot" in t.raw:
        body = f"RAW('{t.raw['class']}', '{t.raw['snapshot']}')"
    else:
        body = root
    if t.is_time_attribute:
        body += f" *{t.kind.value}*"
    return body if t.nullable else body + " NOT NULL"


def _field_text(f: RowField) -> str:
    text = f"{_quote(f.name)} {f.type}"
    return text if f.description is None else text + " '" + f.description.replace("'", "''") + "'"


def _interval_text(t: LogicalType) -> str:
    """``INTERVAL_DAY_TO_SECOND`` with precision 2 and scale 6 is ``INTERVAL DAY(2) TO SECOND(6)``."""
    units = t.root.removeprefix("INTERVAL_").split("_TO_")
    parts = []
    for position, unit in enumerate(units):
        digits = t.precision if position == 0 and unit != "SECOND" else None
        if unit == "SECOND":
            digits = t.scale
        parts.append(unit if digits is None else f"{unit}({digits})")
    return "INTERVAL " + " TO ".join(parts)


_TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)*`)|('(?:[^']|'')*')|(\w+)|(.))", re.DOTALL)


class _TypeParser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [m.group().strip() for m in _TOKEN.finditer(text) if m.group().strip()]
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        if not token:
            raise self.error("ends too early")
        self.at += 1
        return token

    def accept(self, *words: str) -> bool:
        if [w.upper() for w in self.tokens[self.at : self.at + len(words)]] == list(words):
            self.at += len(words)
            return True
        return False

    def expect(self, token: str) -> None:
        if self.next() != token:
            raise self.error(f"lacks a '{token}'")

    def error(self, what: str) -> PlanError:
        return PlanError(f"the type '{self.text}' {what}")

    def number(self) -> int:
        token = self.next()
        if not token.isdigit():
            raise self.error(f"has '{token}' where a number belongs")
        return int(token)

    def argument(self) -> int | None:
        """The ``(n)`` that may follow."""
        if not self.accept("("):
            return None
        value = self.number()
        self.expect(")")
        return value

    def parse(self) -> LogicalType:
        parsed = self.type()
        if self.peek():
            raise self.error(f"has '{self.peek()}' too many")
        return parsed

    def type(self) -> LogicalType:
        parsed = self.base()
        while True:
            if self.accept("NOT", "NULL"):
                parsed = parsed.not_null()
            elif self.accept("NULL"):
                parsed = parsed.nullable_()
            elif self.accept("*"):
                parsed = replace(parsed, kind=TimeKind(self.next()))
                self.expect("*")
            elif self.accept("ARRAY"):
                parsed = array(parsed)
            elif self.accept("MULTISET"):
                parsed = multiset(parsed)
            else:
                return parsed

    def base(self) -> LogicalType:
        word = self.next().upper()
        if word in _SIMPLE:
            if word == "DOUBLE":
                self.accept("PRECISION")
            return LogicalType(word)
        if word in _ALIASES:
            return _ALIASES[word]
        if word in _LENGTH:
            if word == "CHAR" and self.accept("VARYING"):
                word = "VARCHAR"
            length = self.argument()
            return LogicalType(word, length=1 if length is None else length)
        if word in ("DECIMAL", "NUMERIC", "DEC"):
            return self.decimal()
        if word in ("TIMESTAMP", "TIMESTAMP_LTZ", "TIME"):
            return self.time(word)
        if word == "INTERVAL":
            return self.interval()
        if word in ("ARRAY", "MULTISET", "MAP"):
            return LogicalType(word, children=self.children())
        if word == "ROW":
            return LogicalType("ROW", fields=self.fields())
        if word == "STRUCTURED":
            return self.structured()
        if word == "RAW":
            self.expect("(")
            cls = self.next()
            self.expect(",")
            snapshot = self.next()
            self.expect(")")
            return LogicalType("RAW", raw={"class": cls[1:-1], "snapshot": snapshot[1:-1]})
        if word == "SYMBOL":
            return LogicalType("SYMBOL")
        raise self.error(f"has the unknown type name '{word}'")

    def decimal(self) -> LogicalType:
        precision, scale = 10, 0
        if self.accept("("):
            precision = self.number()
            if self.accept(","):
                scale = self.number()
            self.expect(")")
        return decimal(precision, scale)

    def time(self, word: str) -> LogicalType:
        precision = self.argument()
        if word == "TIME":
            self.accept("WITHOUT", "TIME", "ZONE")
            return LogicalType("TIME", precision=precision or 0)
        precision = 6 if precision is None else precision
        if self.accept("WITH", "LOCAL", "TIME", "ZONE"):
            word = "TIMESTAMP_LTZ"
        elif self.accept("WITH", "TIME", "ZONE"):
            word = "TIMESTAMP_TZ"
        else:
            self.accept("WITHOUT", "TIME", "ZONE")
        return LogicalType(word, precision=precision)

    def interval(self) -> LogicalType:
        first = self.next().upper()
        precision, scale, units = self.argument(), None, [first]
        if first == "SECOND":
            precision, scale = None, precision
        if self.accept("TO"):
            units.append(self.next().upper())
            scale = self.argument()
        return LogicalType("INTERVAL_" + "_TO_".join(units), precision=precision, scale=scale)

    def children(self) -> tuple[LogicalType, ...]:
        self.expect("<")
        found = [self.type()]
        while self.accept(","):
            found.append(self.type())
        self.expect(">")
        return tuple(found)

    def fields(self) -> tuple[RowField, ...]:
        close = ">" if self.accept("<") else ")"
        if close == ")":
            self.expect("(")
        found: list[RowField] = []
        while not self.accept(close):
            if found:
                self.expect(",")
            found.append(self.field())
        return tuple(found)

    def field(self) -> RowField:
        name = self.next()
        if name.startswith("`"):
            name = name[1:-1].replace("``", "`")
        field_type = self.type()
        description = None
        if self.peek().startswith("'"):
            description = self.next()[1:-1].replace("''", "'")
        return RowField(name, field_type, description)

    def structured(self) -> LogicalType:
        self.expect("<")
        cls = self.next()[1:-1]
        fields = []
        while self.accept(","):
            fields.append(self.field())
        self.expect(">")
        return LogicalType("STRUCTURED", fields=tuple(fields), raw={"class": cls})


_ALIASES = {"STRING": STRING, "BYTES": LogicalType("VARBINARY", length=STRING_LENGTH), "INTEGER": INT}
_parsed: dict[str, LogicalType] = {}


def parse_type(text: str) -> LogicalType:
    """Parse the text form of a type.  Raises :class:`PlanError` on malformed text."""
    found = _parsed.get(text)
    if found is None:
        found = _parsed[text] = _TypeParser(text).parse()
    return found


# ---------------------------------------------------------------- JSON

_JSON_ROOTS = {
    "TIMESTAMP": "TIMESTAMP_WITHOUT_TIME_ZONE",
    "TIMESTAMP_LTZ": "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
    "TIMESTAMP_TZ": "TIMESTAMP_WITH_TIME_ZONE",
}
_FROM_JSON_ROOTS = {v: k for k, v in _JSON_ROOTS.items()}


def _is_empty(t: LogicalType) -> bool:
    """Whether ``t`` holds but the empty text or no bytes, which SQL has no type for: the literal ``''`` is of it."""
    return t.root in _LENGTH and t.length == 0


def _needs_object(t: LogicalType) -> bool:
    if t.is_time_attribute or t.root == "SYMBOL" or _is_empty(t):
        return True
    if t.raw is not None and "type" in t.raw:
        return True
    return any(map(_needs_object, t.children)) or any(_needs_object(f.type) for f in t.fields)


def type_to_json(t: LogicalType) -> Any:
    """The JSON of a type: text where text says all, else an object."""
    if not _needs_object(t):
        return str(t)
    if t.raw is not None and "type" in t.raw:
        return dict(t.raw)
    out: dict[str, Any] = {"type": _JSON_ROOTS.get(t.root, t.root)}
    if not t.nullable:
        out["nullable"] = False
    if t.is_time_attribute:
        out["precision"] = t.precision
        out["kind"] = t.kind.value
    elif t.root == "ROW":
        out["fields"] = [
            {"name": f.name, "fieldType": type_to_json(f.type)}
            | ({} if f.description is None else {"description": f.description})
            for f in t.fields
        ]
    elif t.root in ("ARRAY", "MULTISET"):
        out["elementType"] = type_to_json(t.children[0])
    elif t.root == "MAP":
        out["keyType"], out["valueType"] = map(type_to_json, t.children)
    elif t.root in _LENGTH:
        out["length"] = t.length
    return out


def type_from_json(value: Any) -> LogicalType:
    """The inverse of :func:`type_to_json`.  Raises :class:`PlanError` on anything else."""
    if isinstance(value, str):
        return parse_type(value)
    if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
        raise PlanError(f"a type is a text or an object with a 'type', not {value!r:.80}")
    root = value["type"]
    nullable = value.get("nullable", True)
    if root in _FROM_JSON_ROOTS:
        return LogicalType(
            _FROM_JSON_ROOTS[root],
            nullable,
            precision=value["precision"],
            kind=TimeKind(value.get("kind", "REGULAR")),
        )
    if root == "ROW":
        return LogicalType(
            "ROW",
            nullable,
            fields=tuple(map(_field_from_json, value["fields"])),
        )
    if root in ("ARRAY", "MULTISET"):
        return LogicalType(root, nullable, children=(type_from_json(value["elementType"]),))
    if root == "MAP":
        return LogicalType(
            "MAP", nullable, children=(type_from_json(value["keyType"]), type_from_json(value["valueType"]))
        )
    if root == "SYMBOL":
        return LogicalType("SYMBOL", nullable)
    if root in _LENGTH and "length" in value:
        return LogicalType(root, nullable, length=value["length"])
    return LogicalType(root, nullable, raw=dict(value))


def _field_from_json(json: Any) -> RowField:
    if not isinstance(json, Mapping) or not isinstance(json.get("name"), str) or "fieldType" not in json:
        raise PlanError(f"a field of a row has a 'name' and a 'fieldType', unlike {json!r:.80}")
    return RowField(json["name"], type_from_json(json["fieldType"]), json.get("description"))
