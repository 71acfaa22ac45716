"""Parse statements and scripts."""

from __future__ import annotations

from collections.abc import Callable

from ...plan.errors import FlinkplanError, combined_error
from . import ast
from .alter import AlterParser
from .errors import SqlSyntaxError
from .lexer import END, NUMBER, QUOTED, STRING, WORD
from .parser import QUERY_STARTS
from .queries import CLAUSES

_EXPLAIN_DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")
_LIKE_ONLY = ("TABLES", "VIEWS", "COLUMNS")
"""What SHOW lists whose pattern Flink takes by LIKE, not by ILIKE."""
_UNSUPPORTED = frozenset(("ANALYZE", "CALL", "DELETE", "MERGE", "REFRESH", "TRUNCATE", "UPDATE", "UPSERT"))
"""The first words of statements that are refused."""


class StatementParser(AlterParser):
    """Statements, and scripts of them."""

    def script(self) -> ast.Script:
        """All statements; after an error, reading goes on behind the next semicolon to find the others."""
        statements: list[ast.Statement] = []
        errors: list[FlinkplanError] = []
        while self.token.kind != END:
            if self.accept(";"):
                continue
            if errors and self.accept("END"):
                continue
            try:
                statements.append(self.statement())
                self._end_of_statement(statements[-1])
            except FlinkplanError as error:
                errors.extend(error.errors)
                self._skip_statement()
        if errors:
            raise combined_error(errors)
        return ast.Script(tuple(statements), self.source, span=ast.Span(0, len(self.source.text), self.source))

    def _end_of_statement(self, statement: ast.Statement) -> None:
        if self.token.key == ";" or self.token.kind == END:
            return
        words = CLAUSES if isinstance(statement, ast.QueryStatement | ast.Insert) else ()
        token = self.token
        hint = self.quoting_hint() if token.kind == WORD else None
        if token.key in STATEMENTS and self.source.position(token.start)[1] == 1:
            hint = "is a ';' missing before this statement?"
        elif token.key == ")":
            hint = "there is no '(' for it"
        elif words and token.kind in (WORD, QUOTED, NUMBER, STRING) and hint is None:
            hint = "is a ',' or an operator missing before it?"
        self.fail("the end of the statement", words=words, hint=hint)

    def _skip_statement(self) -> None:
        while self.token.key != ";" and self.token.kind != END:
            self.advance()

    def statement(self) -> ast.Statement:
        """One statement, without its semicolon."""
        token = self.token
        parse = STATEMENTS.get(token.key)
        try:
            if parse is not None:
                return parse(self)
            if token.key in QUERY_STARTS or token.key == "(":
                query = self.query()
                return ast.QueryStatement(query, span=query.span)
        except RecursionError:
            raise SqlSyntaxError("the statement is nested too deeply", self.span_of(token)) from None
        if token.key in _UNSUPPORTED:
            self.unsupported(token.key, token)
        self.fail("a statement", words=(*STATEMENTS, *QUERY_STARTS))

    # INSERT and statement sets

    def insert(self) -> ast.Insert:
        """``INSERT INTO|OVERWRITE …``."""
        start = self.expect("INSERT").start
        overwrite = self.one_of("INTO", "OVERWRITE") == "OVERWRITE"
        table = self.name("the name of a table")
        hints = self.hints()
        partition = self.partition() if self.token.key == "PARTITION" else ()
        columns: tuple[ast.Name, ...] = ()
        if self.token.key == "(" and self.peek() not in QUERY_STARTS and self.peek() != "(":
            columns = self.parenthesized(lambda: self.name("a column"))
            if self.token.key == "PARTITION":
                self.fail("a query", hint="PARTITION (…) stands before the list of columns")
        query = self.query()
        on_conflict: str | None = None
        if self.accept("ON"):
            self.expect("CONFLICT", "DO")
            on_conflict = self.one_of("NOTHING", "DEDUPLICATE", "ERROR")
        return ast.Insert(table, query, columns, partition, overwrite, hints, on_conflict, span=self.span(start))

    def _statement_set(self) -> ast.StatementSet:
        """``STATEMENT SET BEGIN insert; … END``; every faulty insert is reported."""
        start = self.expect("STATEMENT").start
        self.expect("SET", "BEGIN")
        return self._inserts(start, execute=False)

    def _inserts(self, start: int, *, execute: bool) -> ast.StatementSet:
        inserts: list[ast.Insert] = []
        errors: list[FlinkplanError] = []
        while self.token.key != "END" and not (errors and self.token.kind == END):
            if self.token.kind == END:
                line, column = self.source.position(start)
                self.fail("END", hint=f"the statement set was opened at {line}:{column}")
            try:
                inserts.append(self._insert_of_set())
            except FlinkplanError as error:
                errors.append(error)
                if self.token.key not in ("INSERT", "END"):
                    self._skip_statement()
            self.accept(";")
        end = self.advance()
        if errors:
            raise combined_error(errors)
        if not inserts:
            raise SqlSyntaxError("a statement set holds at least one INSERT", self.span_of(end))
        return ast.StatementSet(tuple(inserts), execute, span=self.span(start))

    def _insert_of_set(self) -> ast.Insert:
        if self.token.key != "INSERT":
            self.fail("INSERT or END", words=("INSERT", "END"))
        insert = self.insert()
        if self.token.key != ";":
            hint = "a ';' stands after every INSERT" if self.token.key in ("INSERT", "END") else None
            self.fail("';'", words=CLAUSES, hint=hint)
        return insert

    def _begin(self) -> ast.Statement:
        start = self.expect("BEGIN").start
        self.expect("STATEMENT", "SET")
        is_alone = self.token.kind == END or (self.token.key == ";" and self.peek_kind() == END)
        if is_alone:
            return ast.BeginStatementSet(span=self.span(start))
        self.expect(";")
        return self._inserts(start, execute=True)

    def _end(self) -> ast.Statement:
        return ast.EndStatementSet(span=self.span(self.expect("END").start))

    # Plans

    def _execute(self) -> ast.Statement:
        start = self.expect("EXECUTE").start
        if self.accept("PLAN"):
            if_exists = self.if_exists()
            path = self.string("the path of a plan in 'single quotes'")
            return ast.ExecutePlan(path, if_exists or self.if_exists(), span=self.span(start))
        if self.accept("STATEMENT"):
            self.expect("SET", "BEGIN")
            return self._inserts(start, execute=True)
        if self.token.key == "INSERT" or self.token.key in QUERY_STARTS:
            return self.statement()
        self.fail("PLAN, STATEMENT SET or INSERT", words=("PLAN", "STATEMENT", "INSERT"))

    def _compile(self) -> ast.Statement:
        start = self.expect("COMPILE").start
        execute = self.accept("AND")
        if execute:
            self.expect("EXECUTE")
        self.expect("PLAN")
        if_not_exists = self.if_not_exists()
        path = self.string("the path of the plan in 'single quotes'")
        if_not_exists = if_not_exists or self.if_not_exists()
        self.expect("FOR")
        if self.token.key not in ("INSERT", "STATEMENT"):
            self.fail("INSERT or STATEMENT SET", words=("INSERT", "STATEMENT"))
        statement = self.insert() if self.token.key == "INSERT" else self._statement_set()
        return ast.CompilePlan(path, statement, if_not_exists, execute, span=self.span(start))

    def _explain(self) -> ast.Statement:
        start = self.expect("EXPLAIN").start
        details: tuple[str, ...] = ()
        if self.token.key == "PLAN":
            self.expect("PLAN", "FOR")
        elif self.token.key in _EXPLAIN_DETAILS:
            details = self.list_of(lambda: self.one_of(*_EXPLAIN_DETAILS))
        return ast.Explain(self.statement(), details, span=self.span(start))

    # Catalog

    def _drop(self) -> ast.Statement:
        start = self.expect("DROP").start
        temporary = self.accept("TEMPORARY")
        system = temporary and self.accept("SYSTEM")
        if self.token.key in ("MATERIALIZED", "MODEL", "CONNECTION"):
            self.unsupported(f"DROP {self.token.key}", self.token)
        kind = self.one_of("TABLE", "VIEW", "FUNCTION", "CATALOG", "DATABASE")
        if_exists = self.if_exists()
        name = self.name()
        cascade = False
        if kind == "DATABASE" and self.token.key in ("CASCADE", "RESTRICT"):
            cascade = self.advance().key == "CASCADE"
        return ast.Drop(kind, name, if_exists, temporary, system, cascade, span=self.span(start))

    def _use(self) -> ast.Statement:
        start = self.expect("USE").start
        if self.accept("MODULES"):
            return ast.UseModules(self.list_of(self._module), span=self.span(start))
        if self.accept("CATALOG"):
            catalog = self.identifier("the name of a catalog")
            return ast.UseCatalog(catalog, span=self.span(start))
        return ast.UseDatabase(self.name("the name of a database"), span=self.span(start))

    def _module(self) -> ast.Identifier:
        return self.identifier("the name of a module")

    def _load_module(self) -> ast.Statement:
        start = self.expect("LOAD").start
        self.expect("MODULE")
        name = self._module()
        options = self.options() if self.accept("WITH") else ()
        return ast.LoadModule(name, options, span=self.span(start))

    def _unload_module(self) -> ast.Statement:
        start = self.expect("UNLOAD").start
        self.expect("MODULE")
        return ast.UnloadModule(self._module(), span=self.span(start))

    def _show(self) -> ast.Statement:
        start = self.expect("SHOW").start
        words: list[str] = []
        while self.token.key in ("CREATE", "CURRENT", "USER", "FULL", "EXTENDED"):
            words.append(self.advance().key)
        if self.token.kind != WORD:
            self.fail("what to show", words=("TABLES", "VIEWS", "FUNCTIONS", "CATALOGS", "DATABASES", "COLUMNS"))
        words.append(self.advance().key)
        alone = self.token.key in ("NOT", "LIKE", "ILIKE", ";") or self.token.kind == END
        name = self.name() if self.accept("FROM") or self.accept("IN") or not alone else None
        negated = self.accept("NOT")
        pattern: str | None = None
        ignores_case = False
        operators = ("LIKE",) if words[-1] in _LIKE_ONLY else ("LIKE", "ILIKE")
        if negated or self.token.key in operators:
            ignores_case = self.one_of(*operators) == "ILIKE"
            pattern = self.string("a pattern in 'single quotes'")
        partition = self.partition() if words == ["PARTITIONS"] and self.token.key == "PARTITION" else ()
        return ast.Show(" ".join(words), name, pattern, negated, ignores_case, partition, span=self.span(start))

    def _describe(self) -> ast.Statement:
        start = self.advance().start
        kind = "TABLE"
        if self.token.key in ("CATALOG", "DATABASE", "FUNCTION", "MODEL") and self.peek() not in (";", END, "."):
            kind = self.advance().key
        elif self.token.key == "JOB" and self.peek_kind() == STRING:
            self.advance()
            id = ast.Identifier(self.string(), quoted=True)
            return ast.Describe(ast.Name((id,)), "JOB", span=self.span(start))
        extended = self.accept("EXTENDED")
        return ast.Describe(self.name(), kind, extended, span=self.span(start))

    # Settings

    def _set(self) -> ast.Statement:
        start = self.expect("SET").start
        if self.token.key == ";" or self.token.kind == END:
            return ast.SetOption(span=self.span(start))
        key = self._setting("=")
        self.expect("=")
        return ast.SetOption(key, self._setting(), span=self.span(start))

    def _reset(self) -> ast.Statement:
        start = self.expect("RESET").start
        if self.token.key == ";" or self.token.kind == END:
            return ast.ResetOption(span=self.span(start))
        return ast.ResetOption(self._setting(), span=self.span(start))

    def _setting(self, until: str = ";") -> str:
        """A key or a value: a string, or everything up to ``until`` as it is written."""
        if self.token.kind == STRING:
            return self.string()
        if self.token.kind not in (WORD, NUMBER):
            self.fail("a string in 'single quotes'")
        start = self.token.start
        while self.token.key not in (until, ";") and self.token.kind != END:
            self.advance()
        return self.span(start).text

    def _add_jar(self) -> ast.Statement:
        token = self.advance()
        self.expect("JAR")
        return ast.AddJar(self._setting(), token.key == "REMOVE", span=self.span(token.start))

    def _stop_job(self) -> ast.Statement:
        start = self.expect("STOP").start
        self.expect("JOB")
        job = self.string("the id of a job in 'single quotes'")
        ways = set()
        while self.accept("WITH"):
            ways.add(self.one_of("SAVEPOINT", "DRAIN"))
        return ast.StopJob(job, "SAVEPOINT" in ways, "DRAIN" in ways, span=self.span(start))


STATEMENTS: dict[str, Callable[[StatementParser], ast.Statement]] = {
    "CREATE": StatementParser.create,
    "REPLACE": StatementParser.replace,
    "INSERT": StatementParser.insert,
    "SET": StatementParser._set,
    "RESET": StatementParser._reset,
    "EXECUTE": StatementParser._execute,
    "STATEMENT": StatementParser._statement_set,
    "BEGIN": StatementParser._begin,
    "END": StatementParser._end,
    "COMPILE": StatementParser._compile,
    "EXPLAIN": StatementParser._explain,
    "DROP": StatementParser._drop,
    "ALTER": StatementParser.alter,
    "USE": StatementParser._use,
    "LOAD": StatementParser._load_module,
    "UNLOAD": StatementParser._unload_module,
    "SHOW": StatementParser._show,
    "DESCRIBE": StatementParser._describe,
    "DESC": StatementParser._describe,
    "ADD": StatementParser._add_jar,
    "REMOVE": StatementParser._add_jar,
    "STOP": StatementParser._stop_job,
}
"""How a statement is parsed, by its first word."""
