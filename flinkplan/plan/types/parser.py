"""Parses the text form of a type."""

from __future__ import annotations

import re

from ..errors import PlanError
from ..printable import shortened
from ..record import Json, replace
from .logical import (
    BYTES,
    INT,
    STRING,
    WITH_LENGTH,
    LogicalType,
    RowField,
    TimeKind,
    array,
    decimal,
    multiset,
)

_SIMPLE = frozenset(
    ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "BITMAP", "VARIANT", "NULL")
)
DEEPEST = 100
"""How many levels of rows, arrays and maps may be nested."""

_TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)*`)|('(?:[^']|'')*')|(\w+)|(.))", re.DOTALL)


class _TypeParser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [m.group().strip() for m in _TOKEN.finditer(text) if m.group().strip()]
        self.at = 0
        self.depth = 0

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

    def error(self, problem: str) -> PlanError:
        return PlanError(f"the type '{shortened(self.text, 200)}' {problem}")

    def number(self) -> int:
        token = self.next()
        if not re.fullmatch("[0-9]{1,10}", token):
            raise self.error(f"has '{shortened(token)}' where a number belongs")
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
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"is nested more than {DEEPEST} levels deep")
        parsed = self.suffixed(self.base())
        self.depth -= 1
        return parsed

    def suffixed(self, parsed: LogicalType) -> LogicalType:
        """The type with its suffixes: nullability, the kind of time attribute, ARRAY and MULTISET."""
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
        if word in WITH_LENGTH:
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
            return LogicalType("RAW", raw=Json({"class": cls[1:-1], "snapshot": snapshot[1:-1]}))
        if word in ("SYMBOL", "DESCRIPTOR"):
            return LogicalType(word)
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
        types = [self.type()]
        while self.accept(","):
            types.append(self.type())
        self.expect(">")
        return tuple(types)

    def fields(self) -> tuple[RowField, ...]:
        close = ">" if self.accept("<") else ")"
        if close == ")":
            self.expect("(")
        fields: list[RowField] = []
        while not self.accept(close):
            if fields:
                self.expect(",")
            fields.append(self.field())
        return tuple(fields)

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
        return LogicalType("STRUCTURED", fields=tuple(fields), raw=Json({"class": cls}))


_ALIASES = {"STRING": STRING, "BYTES": BYTES, "INTEGER": INT}
_parsed: dict[str, LogicalType] = {}


def parse_type(text: str) -> LogicalType:
    """Parse the text form of a type.  Raises :class:`PlanError` on malformed text."""
    parsed = _parsed.get(text)
    if parsed is None:
        parsed = _parsed[text] = _TypeParser(text).parse()
    return parsed
