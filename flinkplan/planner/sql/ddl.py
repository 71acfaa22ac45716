"""Parse CREATE statements."""

from __future__ import annotations

from . import ast
from .errors import SqlSyntaxError
from .parser import either
from .queries import QueryParser

_LIKE_FEATURES = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")
_TABLE_CLAUSES = ("COMMENT", "DISTRIBUTED", "PARTITIONED", "WITH", "LIKE", "AS")


class Elements:
    """What is found between the parentheses of a CREATE TABLE or an ALTER TABLE."""

    def __init__(self) -> None:
        self.columns: list[ast.TableColumn] = []
        self.column_names: list[ast.Identifier] = []
        self.primary_keys: list[ast.PrimaryKey] = []
        self.unique_keys: list[ast.UniqueKey] = []
        self.watermarks: list[ast.Watermark] = []


class CreateParser(QueryParser):
    """CREATE statements."""

    def create(self) -> ast.Statement:
        """``CREATE …``."""
        start = self.expect("CREATE").start
        if self.token.key == "OR" and self.peek() == "ALTER":
            self.advance()
            self.unsupported("CREATE OR ALTER", self.token, "drop what is there and create it anew")
        return self._created(start, self.accept("OR", "REPLACE"))

    def replace(self) -> ast.Statement:
        """``REPLACE TABLE … AS query``."""
        start = self.expect("REPLACE").start
        if self.token.key != "TABLE":
            self.fail("TABLE", words=("TABLE",))
        return self._created(start, or_replace=True)

    def _created(self, start: int, or_replace: bool) -> ast.Statement:
        temporary = self.accept("TEMPORARY")
        system = temporary and self.accept("SYSTEM")
        token = self.token
        key = token.key
        if key == "FUNCTION":
            return self._create_function(start, temporary, system)
        if not system:
            if key == "TABLE":
                return self._create_table(start, or_replace, temporary)
            if key == "VIEW":
                return self._create_view(start, or_replace, temporary)
            if key == "CATALOG":
                return self._create_catalog(start)
            if key == "DATABASE":
                return self._create_database(start)
            if key in ("MATERIALIZED", "MODEL", "CONNECTION"):
                self.unsupported(f"CREATE {key}", token)
        kinds = ("FUNCTION",) if system else ("TABLE", "VIEW", "FUNCTION", "CATALOG", "DATABASE")
        self.fail(either(kinds), words=kinds)

    def if_not_exists(self) -> bool:
        """``IF NOT EXISTS`` if it is there."""
        present = self.token.key == "IF" and self.peek() == "NOT"
        if present:
            self.expect("IF", "NOT", "EXISTS")
        return present

    def if_exists(self) -> bool:
        """``IF EXISTS`` if it is there."""
        present = self.token.key == "IF"
        if present:
            self.expect("IF", "EXISTS")
        return present

    def _comment(self) -> str | None:
        return self.string("a comment in 'single quotes'") if self.accept("COMMENT") else None

    def with_options(self) -> tuple[ast.Option, ...]:
        """``WITH (…)`` if it is there."""
        return self.options() if self.accept("WITH") else ()

    # Tables

    def _create_table(self, start: int, or_replace: bool, temporary: bool) -> ast.CreateTable:
        self.advance()
        if_not_exists = self.if_not_exists()
        name = self.name("the name of the table")
        elements = Elements()
        if self.token.key == "(":
            self.parenthesized(lambda: self.table_element(elements))
        comment = self._comment()
        start_of_buckets = self.token.start
        distribution = self.distribution(start_of_buckets) if self.accept("DISTRIBUTED") else None
        partitioned_by = self.parenthesized(self.column) if self.accept_by("PARTITIONED") else ()
        options = self.with_options()
        like = self._like() if self.token.key == "LIKE" else None
        query = self.query() if like is None and self.accept("AS") else None
        if query is None and self.token.key in _TABLE_CLAUSES:
            self.fail(
                "the end of the statement",
                hint="the clauses stand in this order: COMMENT, DISTRIBUTED, PARTITIONED BY, WITH, then LIKE or AS",
            )
        if query is None and elements.column_names:
            raise SqlSyntaxError(
                f"the column {elements.column_names[0]} has no type",
                elements.column_names[0].span,
                "only CREATE TABLE … AS SELECT may list bare column names",
            )
        return ast.CreateTable(
            name,
            tuple(elements.columns),
            tuple(elements.column_names),
            tuple(elements.primary_keys),
            tuple(elements.unique_keys),
            tuple(elements.watermarks),
            comment,
            distribution,
            partitioned_by,
            options,
            like,
            query,
            temporary,
            if_not_exists,
            or_replace,
            span=self.span(start),
        )

    def table_element(self, elements: Elements) -> None:
        """A column, a key or a watermark, added to ``elements``."""
        key = self.token.key
        if key == "WATERMARK":
            elements.watermarks.append(self._watermark())
        elif key in ("PRIMARY", "UNIQUE", "CONSTRAINT"):
            self._constraint(elements, None)
        elif key == ")":
            self.fail("a column", hint="is there a comma too many?" if elements.columns else None)
        else:
            self._column(elements)

    def _column(self, elements: Elements) -> None:
        start = self.token.start
        name = self.identifier("a column name")
        if self.token.key in (",", ")"):
            elements.column_names.append(name)
            return
        if self.accept("AS"):
            expression = self.expression()
            comment = self._comment()
            elements.columns.append(ast.ComputedColumn(name, expression, comment, span=self.span(start)))
            return
        if self.token.key == ".":
            self.fail("a data type", hint="a column name has one part; nested fields belong in a ROW<…> type")
        if self.token.key == "INTERVAL":
            self.fail("a data type", hint="a column holds no intervals; keep a number, such as TIMESTAMPDIFF yields")
        kind = self.data_type(nullability=True)
        metadata = self.accept("METADATA")
        key: str | None = None
        virtual = False
        if metadata:
            key = self.string("a metadata key in 'single quotes'") if self.accept("FROM") else None
            virtual = self.accept("VIRTUAL")
        if self.token.key in ("PRIMARY", "UNIQUE", "CONSTRAINT"):
            self._constraint(elements, name)
        comment = self._comment()
        span = self.span(start)
        if metadata:
            elements.columns.append(ast.MetadataColumn(name, kind, key, virtual, comment, span=span))
        else:
            elements.columns.append(ast.PhysicalColumn(name, kind, comment, span=span))

    def _constraint(self, elements: Elements, column: ast.Identifier | None) -> None:
        start = self.token.start
        name = self.identifier("the name of the constraint") if self.accept("CONSTRAINT") else None
        kind = self.one_of("PRIMARY", "UNIQUE")
        if kind == "PRIMARY":
            self.expect("KEY")
        columns = (column,) if column else self.parenthesized(self.column)
        enforced = not self.accept("NOT", "ENFORCED")
        if enforced:
            self.accept("ENFORCED")
        if kind == "PRIMARY":
            elements.primary_keys.append(ast.PrimaryKey(columns, name, enforced, span=self.span(start)))
        else:
            elements.unique_keys.append(ast.UniqueKey(columns, name, span=self.span(start)))

    def _watermark(self) -> ast.Watermark:
        start = self.expect("WATERMARK").start
        self.expect("FOR")
        column = self.name("the column of the watermark")
        self.expect("AS")
        return ast.Watermark(column.parts, self.expression(), span=self.span(start))

    def distribution(self, start: int) -> ast.Distribution:
        """What stands behind DISTRIBUTED or DISTRIBUTION, which begins at ``start``."""
        kind: str | None = None
        columns: tuple[ast.Identifier, ...] = ()
        if self.accept("BY"):
            if self.token.key in ("HASH", "RANGE"):
                kind = self.advance().key
            columns = self.parenthesized(self.column)
        elif self.token.key != "INTO":
            self.fail("BY or INTO", words=("BY", "INTO"))
        buckets: int | None = None
        if self.accept("INTO"):
            buckets = self.integer("the number of buckets")
            self.expect("BUCKETS")
        return ast.Distribution(columns, kind, buckets, span=self.span(start))

    def _like(self) -> ast.TableLike:
        start = self.expect("LIKE").start
        table = self.name("the name of a table")
        options: list[ast.LikeOption] = []
        if self.token.key == "(":
            opener = self.open()
            while self.token.key != ")":
                option_start = self.token.start
                merging = self.one_of("INCLUDING", "EXCLUDING", "OVERWRITING")
                feature = self.one_of(*_LIKE_FEATURES)
                options.append(ast.LikeOption(merging, feature, span=self.span(option_start)))
            self.close(opener)
        return ast.TableLike(table, tuple(options), span=self.span(start))

    def partition(self) -> tuple[ast.PartitionValue, ...]:
        """``PARTITION (column = value, …)``."""
        self.expect("PARTITION")
        return self.parenthesized(self.partition_value)

    def partition_value(self) -> ast.PartitionValue:
        """``column [= value]``."""
        start = self.token.start
        column = self.identifier("a column name")
        value = self.expression() if self.accept("=") else None
        return ast.PartitionValue(column, value, span=self.span(start))

    # The others

    def _create_view(self, start: int, or_replace: bool, temporary: bool) -> ast.CreateView:
        self.advance()
        if_not_exists = self.if_not_exists()
        name = self.name("the name of the view")
        columns = self.column_list()
        comment = self._comment()
        self.expect("AS")
        query = self.query()
        return ast.CreateView(
            name, query, columns, comment, temporary, if_not_exists, or_replace, span=self.span(start)
        )

    def _create_function(self, start: int, temporary: bool, system: bool) -> ast.CreateFunction:
        self.advance()
        if_not_exists = self.if_not_exists()
        name = self.name("the name of the function")
        self.expect("AS")
        class_name = self.string("a class name in 'single quotes'")
        language = self.language() if self.accept("LANGUAGE") else None
        jars = self.list_of(self._jar) if self.accept("USING") else ()
        options = self.with_options()
        return ast.CreateFunction(
            name, class_name, language, jars, options, temporary, system, if_not_exists, span=self.span(start)
        )

    def language(self) -> str:
        """The language of a function."""
        return self.one_of("JAVA", "SCALA", "SQL", "PYTHON")

    def _jar(self) -> str:
        self.one_of("JAR", "ARTIFACT")
        return self.string("a path in 'single quotes'")

    def _create_catalog(self, start: int) -> ast.CreateCatalog:
        self.advance()
        if_not_exists = self.if_not_exists()
        name = self.identifier("the name of the catalog")
        comment = self._comment()
        return ast.CreateCatalog(name, comment, self.with_options(), if_not_exists, span=self.span(start))

    def _create_database(self, start: int) -> ast.CreateDatabase:
        self.advance()
        if_not_exists = self.if_not_exists()
        name = self.name("the name of the database")
        comment = self._comment()
        return ast.CreateDatabase(name, comment, self.with_options(), if_not_exists, span=self.span(start))
