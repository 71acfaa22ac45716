"""Parse ALTER statements."""

from __future__ import annotations

from . import ast
from .ddl import CreateParser, Elements
from .parser import either

_UNALTERED = ("CONNECTION", "MATERIALIZED", "MODEL")
"""What Flink can alter, and flinkplan cannot."""

_ALTERED = ("TABLE", "VIEW", "CATALOG", "DATABASE", "FUNCTION")
_CHANGES = ("SET", "RESET", "RENAME", "ADD", "MODIFY", "DROP")


class AlterParser(CreateParser):
    """ALTER TABLE, VIEW, CATALOG, DATABASE and FUNCTION."""

    def alter(self) -> ast.Statement:
        """``ALTER …``."""
        start = self.expect("ALTER").start
        if self.accept("VIEW"):
            return self._alter_view(start)
        if self.accept("CATALOG"):
            return self._alter_catalog(start)
        if self.token.key in ("FUNCTION", "TEMPORARY"):
            return self._alter_function(start)
        if self.accept("DATABASE"):
            name = self.name("the name of a database")
            self.expect("SET")
            return ast.AlterDatabase(name, self.options(), span=self.span(start))
        if self.token.key != "TABLE":
            if self.token.key not in _UNALTERED:
                self.fail(either(_ALTERED), words=_ALTERED)
            self.unsupported(f"ALTER {self.token.key}", self.token)
        self.advance()
        if_exists = self.if_exists()
        name = self.name("the name of a table")
        return ast.AlterTable(name, self._table_change(), if_exists, span=self.span(start))

    def _alter_catalog(self, start: int) -> ast.AlterCatalog:
        name = self.identifier("the name of a catalog")
        change = self.one_of("SET", "RESET", "COMMENT")
        if change == "SET":
            return ast.AlterCatalog(name, options=self.options(), span=self.span(start))
        if change == "RESET":
            return ast.AlterCatalog(name, reset_keys=self._keys(), span=self.span(start))
        comment = self.string("a comment in 'single quotes'")
        return ast.AlterCatalog(name, comment=comment, span=self.span(start))

    def _alter_function(self, start: int) -> ast.AlterFunction:
        temporary = self.accept("TEMPORARY")
        system = temporary and self.accept("SYSTEM")
        self.expect("FUNCTION")
        if_exists = self.if_exists()
        name = self.name("the name of a function")
        self.expect("AS")
        class_name = self.string("a class name in 'single quotes'")
        language = self.language() if self.accept("LANGUAGE") else None
        return ast.AlterFunction(name, class_name, language, temporary, system, if_exists, span=self.span(start))

    def _keys(self) -> tuple[str, ...]:
        """Keys of options in parentheses; there may be none."""
        if self.accept("(", ")"):
            return ()
        return self.parenthesized(lambda: self.string("an option key in 'single quotes'"))

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
        if self.token.key == "DISTRIBUTION" and token.key in ("ADD", "MODIFY", "DROP"):
            return self._change_distribution(token.key, start)
        if token.key == "ADD" and self.token.key in ("PARTITION", "IF"):
            return self._add_partitions(start)
        if token.key == "DROP" and self.token.key in ("PARTITION", "IF"):
            return self._drop_partitions(start)
        if token.key == "SET":
            return ast.SetOptions(self.options(), span=self.span(start))
        if token.key == "RESET":
            return ast.ResetOptions(self._keys(), span=self.span(start))
        if token.key == "RENAME":
            return self._rename(start)
        if token.key == "DROP":
            return self._drop_part(start)
        return self._change_schema(start, modify=token.key == "MODIFY")

    def _change_distribution(self, verb: str, start: int) -> ast.TableChange:
        token = self.advance()
        if verb == "DROP":
            return ast.DropDistribution(span=self.span(start))
        return ast.ChangeDistribution(verb == "MODIFY", self.distribution(token.start), span=self.span(start))

    def _add_partitions(self, start: int) -> ast.AddPartitions:
        if_not_exists = self.if_not_exists()
        partitions: list[tuple[ast.PartitionValue, ...]] = []
        while not partitions or self.token.key == "PARTITION":
            partitions.append(self.partition())
            self.with_options()
        return ast.AddPartitions(tuple(partitions), if_not_exists, span=self.span(start))

    def _drop_partitions(self, start: int) -> ast.DropPartitions:
        if_exists = self.if_exists()
        return ast.DropPartitions(self.list_of(self.partition), if_exists, span=self.span(start))

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
