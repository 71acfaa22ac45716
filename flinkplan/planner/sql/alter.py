"""Parse ALTER statements."""

from __future__ import annotations

from . import ast
from .ddl import CreateParser, Elements

_UNALTERED = ("CATALOG", "CONNECTION", "DATABASE", "FUNCTION", "MATERIALIZED", "MODEL", "TEMPORARY")
"""What Flink can alter, and flinkplan cannot."""

_CHANGES = ("SET", "RESET", "RENAME", "ADD", "MODIFY", "DROP")


class AlterParser(CreateParser):
    """ALTER TABLE and ALTER VIEW."""

    def alter(self) -> ast.Statement:
        """``ALTER …``."""
        start = self.expect("ALTER").start
        if self.accept("VIEW"):
            return self._alter_view(start)
        if self.token.key != "TABLE":
            if self.token.key not in _UNALTERED:
                self.fail("TABLE or VIEW", words=("TABLE", "VIEW"))
            self.unsupported(f"ALTER {self.token.key}", self.token, "tables and views can be altered")
        self.advance()
        if_exists = self.if_exists()
        name = self.name("the name of a table")
        return ast.AlterTable(name, self._table_change(), if_exists, span=self.span(start))

    def _alter_view(self, start: int) -> ast.AlterView:
        name = self.name("the name of a view")
        if self.accept("RENAME", "TO"):
            return ast.AlterView(name, rename_to=self.name("the new name"), span=self.span(start))
        if not self.accept("AS"):
            self.fail("AS or RENAME TO", words=("AS", "RENAME"))
        return ast.AlterView(name, query=self.query(), span=self.span(start))

    def _table_change(self) -> ast.TableChange:
        token = self.token
        start = token.start
        if token.key == "COMPACT":
            self.unsupported("ALTER TABLE … COMPACT", token)
        if token.key not in _CHANGES:
            self.fail("SET, RESET, RENAME, ADD, MODIFY or DROP", words=_CHANGES)
        self.advance()
        if self.token.key in ("PARTITION", "DISTRIBUTION") or (self.token.key == "IF" and token.key in ("ADD", "DROP")):
            self.unsupported(f"ALTER TABLE … {token.key} {self.token.key}", self.token)
        if token.key == "SET":
            return ast.SetOptions(self.options(), span=self.span(start))
        if token.key == "RESET":
            keys = self.parenthesized(lambda: self.string("an option key in 'single quotes'"))
            return ast.ResetOptions(keys, span=self.span(start))
        if token.key == "RENAME":
            return self._rename(start)
        if token.key == "DROP":
            return self._drop_part(start)
        return self._change_schema(start, modify=token.key == "MODIFY")

    def _rename(self, start: int) -> ast.TableChange:
        if self.accept("TO"):
            return ast.RenameTable(self.name("the new name"), span=self.span(start))
        column = self.identifier("a column name or TO")
        self.expect("TO")
        return ast.RenameColumn(column, self.identifier("the new name"), span=self.span(start))

    def _drop_part(self, start: int) -> ast.TableChange:
        if self.accept("PRIMARY", "KEY"):
            return ast.DropKey(span=self.span(start))
        if self.accept("CONSTRAINT"):
            return ast.DropKey(self.identifier("the name of the constraint"), span=self.span(start))
        if self.accept("WATERMARK"):
            return ast.DropWatermark(span=self.span(start))
        columns = self.column_list() or (self.column(),)
        return ast.DropColumns(columns, span=self.span(start))

    def _change_schema(self, start: int, *, modify: bool) -> ast.ChangeSchema:
        elements = Elements()
        if self.token.key == "(":
            columns = self.parenthesized(lambda: self._placed_element(elements))
        else:
            columns = (self._placed_element(elements),)
        return ast.ChangeSchema(
            modify,
            tuple(column for column in columns if column is not None),
            tuple(elements.primary_keys),
            tuple(elements.unique_keys),
            tuple(elements.watermarks),
            span=self.span(start),
        )

    def _placed_element(self, elements: Elements) -> ast.PlacedColumn | None:
        """A column with its place; a key or a watermark goes into ``elements``."""
        start = self.token.start
        known = len(elements.columns)
        self.table_element(elements)
        if len(elements.columns) == known:
            return None
        first = self.accept("FIRST")
        after = self.column() if not first and self.accept("AFTER") else None
        return ast.PlacedColumn(elements.columns[-1], first, after, span=self.span(start))
