"""Parse data types."""

from __future__ import annotations

from ...plan.types.parser import DEEPEST
from . import ast
from .errors import SqlSyntaxError
from .keywords import RESERVED, TIME_UNITS
from .lexer import STRING, WORD
from .parser import Cursor

_CANONICAL = {
    "INTEGER": "INT",
    "NUMERIC": "DECIMAL",
    "DEC": "DECIMAL",
    "CHARACTER": "CHAR",
}

_SIMPLE = frozenset(
    (
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INT",
        "INTEGER",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "REAL",
        "DATE",
        "STRING",
        "BYTES",
        "VARIANT",
        "BITMAP",
    )
)
_WITH_ARGUMENTS = {
    "DECIMAL": 2,
    "NUMERIC": 2,
    "DEC": 2,
    "CHAR": 1,
    "CHARACTER": 1,
    "VARCHAR": 1,
    "BINARY": 1,
    "VARBINARY": 1,
    "TIME": 1,
    "TIMESTAMP": 1,
    "TIMESTAMP_LTZ": 1,
}
_COLLECTIONS = {"ARRAY": 1, "MULTISET": 1, "MAP": 2}


class TypeParser(Cursor):
    """Data types and interval qualifiers."""

    _depth = 0
    """How many types the one being read stands in."""

    def data_type(self, *, nullability: bool = False) -> ast.DataType:
        """A data type; with ``nullability`` it may end with NULL or NOT NULL, as in columns and fields."""
        start = self.token.start
        if self._depth == DEEPEST:
            raise SqlSyntaxError(f"types stand within each other more than {DEEPEST} deep", self.span_of(self.token))
        self._depth += 1
        try:
            result = self._type()
        finally:
            self._depth -= 1
        while self.token.key in ("ARRAY", "MULTISET"):
            result = ast.DataType(self.advance().key, elements=(result,), span=self.span(start))
        if nullability:
            if self.accept("NOT", "NULL"):
                result = ast.DataType(
                    result.name,
                    result.args,
                    False,
                    result.elements,
                    result.fields,
                    result.interval,
                    result.user_type,
                    span=self.span(start),
                )
            else:
                self.accept("NULL")
        return result

    def _type(self) -> ast.DataType:
        token = self.token
        key = token.key
        start = token.start
        if key in _SIMPLE:
            self.advance()
            if key == "DOUBLE":
                self.accept("PRECISION")
            return ast.DataType(_CANONICAL.get(key, key), span=self.span(start))
        if key in _WITH_ARGUMENTS:
            return self._type_with_arguments(key)
        if key in _COLLECTIONS and self.peek() in ("<", "<>"):
            self.advance()
            return self._collection_type(key, start)
        if key == "ROW":
            self.advance()
            return ast.DataType("ROW", fields=self._row_fields(), span=self.span(start))
        if key == "INTERVAL":
            self.advance()
            qualifier = self.interval_qualifier()
            return ast.DataType("INTERVAL", interval=qualifier, span=self.span(start))
        if key == "RAW":
            return self._raw()
        if key == "STRUCTURED":
            return self._structured()
        if token.kind == WORD and key in RESERVED:
            self.fail("a data type")
        user_type = self.name("a data type")
        return ast.DataType(str(user_type), user_type=user_type, span=self.span(start))

    def _type_with_arguments(self, key: str) -> ast.DataType:
        start = self.advance().start
        name = _CANONICAL.get(key, key)
        if name in ("CHAR", "BINARY") and self.accept("VARYING"):
            name = "VAR" + name
        args: tuple[int, ...] = ()
        if self.token.key == "(":
            opener = self.open()
            args = (self.integer(),)
            if _WITH_ARGUMENTS[key] == 2 and self.accept(","):
                args = (*args, self.integer())
            self.close(opener)
        if key in ("TIME", "TIMESTAMP") and not self.accept("WITHOUT", "TIME", "ZONE"):
            if key == "TIMESTAMP" and self.accept("WITH", "LOCAL", "TIME", "ZONE"):
                name = "TIMESTAMP_LTZ"
            elif self.token.key == "WITH" and self.peek() in ("TIME", "LOCAL"):
                self.fail(
                    "the end of the type",
                    hint="Flink has TIMESTAMP(p), and TIMESTAMP(p) WITH LOCAL TIME ZONE or TIMESTAMP_LTZ(p)",
                )
        return ast.DataType(name, args, span=self.span(start))

    def _collection_type(self, key: str, start: int) -> ast.DataType:
        if self.token.key == "<>":
            self.fail(f"'<' and {'two types' if key == 'MAP' else 'a type'}")
        opener = self.expect("<")
        elements = [self.data_type(nullability=True)]
        if _COLLECTIONS[key] == 2:
            self.expect(",")
            elements.append(self.data_type(nullability=True))
        self.close(opener)
        return ast.DataType(key, elements=tuple(elements), span=self.span(start))

    def _row_fields(self) -> tuple[ast.RowField, ...]:
        if self.accept("<>") or self.accept("(", ")"):
            return ()
        if self.token.key not in ("<", "("):
            self.fail("'<' or '(' after ROW")
        opener = self.advance()
        if self.text(opener) == "<" and self.accept(">"):
            return ()
        fields = self.list_of(self._row_field)
        self.close(opener)
        return fields

    def _row_field(self) -> ast.RowField:
        start = self.token.start
        name: ast.Identifier = self.identifier("a field name")
        kind = self.data_type(nullability=True)
        comment = self.string() if self.token.kind == STRING else None
        return ast.RowField(name, kind, comment, span=self.span(start))

    def _raw(self) -> ast.DataType:
        start = self.advance().start
        opener = self.open()
        class_name = self.string("a class name")
        self.expect(",")
        serializer = self.string("a serializer snapshot")
        self.close(opener)
        return ast.DataType("RAW", (class_name, serializer), span=self.span(start))

    def _structured(self) -> ast.DataType:
        start = self.advance().start
        opener = self.expect("<")
        class_name = self.string("a class name")
        fields = self.list_of(self._row_field) if self.accept(",") else ()
        self.close(opener)
        return ast.DataType("STRUCTURED", (class_name,), fields=fields, span=self.span(start))

    def at_interval_unit(self) -> bool:
        """Whether the next token is a unit such as DAY or DAYS."""
        return self.token.key in TIME_UNITS

    def interval_qualifier(self) -> ast.IntervalQualifier:
        """``DAY [(p)] [TO SECOND [(s)]]``."""
        start = self.token.start
        unit = self._interval_unit()
        precision = fraction = end_unit = None
        if self.token.key == "(":
            opener = self.open()
            precision = self.integer()
            if unit == "SECOND" and self.accept(","):
                fraction = self.integer()
            self.close(opener)
        if self.token.key == "TO":
            self.advance()
            end_unit = self._interval_unit()
            if end_unit == "SECOND" and self.token.key == "(":
                opener = self.open()
                fraction = self.integer()
                self.close(opener)
        return ast.IntervalQualifier(unit, end_unit, precision, fraction, span=self.span(start))

    def _interval_unit(self) -> str:
        if not self.at_interval_unit():
            self.fail("a unit such as DAY, HOUR or SECOND", words=TIME_UNITS)
        return TIME_UNITS[self.advance().key]
