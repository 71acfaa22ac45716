"""Scripts: definitions, then one INSERT or statement set to compile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from ..plan.document import Plan
from ..plan.errors import FlinkplanError, combined_error
from ..plan.findings import Finding
from ..plan.settings import RUNTIME_MODE, is_batch_mode
from .binder.errors import BindError
from .catalog.errors import FaultyDefinition
from .catalog.functions import Loader
from .session import Session
from .spec import is_spec, parse_spec
from .sql import ast, parse_script


def parse_pipeline(text: str, file: str | None) -> ast.Script:
    """The statements of a pipeline: of a spec in YAML where the file's name ends so, else of a SQL script."""
    return parse_spec(text, file) if is_spec(file) else parse_script(text, file)


T = TypeVar("T")
Job: TypeAlias = ast.Insert | ast.StatementSet | ast.CreateTable
"""Statements that compile to a plan; CREATE TABLE only with AS."""


def job_of(script: ast.Script) -> Job:
    """The statement that a script exists for.  Raises :class:`FlinkplanError` if there is none, or several."""
    jobs = [job for job in map(_job, script.statements) if job is not None]
    if not jobs:
        raise _nothing_to_compile(script)
    if len(jobs) > 1:
        raise BindError(
            "the script has several INSERTs, a plan is of one job",
            jobs[1].span,
            "put them together: EXECUTE STATEMENT SET BEGIN … END;",
        )
    return jobs[0]


def _nothing_to_compile(script: ast.Script) -> FlinkplanError:
    query = next((s for s in script.statements if isinstance(s, ast.QueryStatement)), None)
    if query is not None:
        return BindError("a query alone is no job", query.span, "write its rows to a table: INSERT INTO … SELECT …")
    return FlinkplanError(
        "the script has nothing to compile: there is no INSERT and no statement set",
        where=script.source.file,
        hint="add INSERT INTO … SELECT …",
    )


def _job(statement: ast.Statement) -> Job | None:
    if isinstance(statement, ast.CreateTable):
        return statement if statement.query is not None else None
    if isinstance(statement, (ast.Insert, ast.StatementSet)):
        return statement
    if isinstance(statement, ast.CompilePlan):
        return statement.statement
    if isinstance(statement, ast.Explain):
        return _job(statement.statement)
    return None


def compile_statements(
    script: ast.Script,
    options: Mapping[str, str],
    warn: Callable[[Finding], None] | None = None,
    *,
    complete: bool = False,
    load: Loader | None = None,
    catalog_tables: Mapping[str, str] | None = None,
) -> Plan:
    """Apply the definitions up to the job, and compile the job; ``complete`` as in :meth:`Session.compile`.

    Raises as :func:`with_job` does, which also explains the other parameters.
    """

    def compiled(session: Session, job: ast.Insert | ast.StatementSet) -> Plan:
        check_streaming(session.config, job)
        return session.compile(job, complete=complete)

    return with_job(script, options, warn, compiled, load, catalog_tables)


def check_streaming(config: Mapping[str, str], job: ast.Insert | ast.StatementSet) -> None:
    """Raise :class:`BindError` where a plan would have to be one of batch mode."""
    if is_batch_mode(config):
        raise BindError(
            "plans of batch mode are compiled by Flink only; a streaming plan over bounded tables also ends with "
            "its input, and leaves the same rows in tables that take updates",
            job.span,
            f"leave '{RUNTIME_MODE}' out; or execute the statements with flinkplan run, without a plan; or compile "
            "with Flink, whose batch plans are executed here",
        )


def with_job(
    script: ast.Script,
    options: Mapping[str, str],
    warn: Callable[[Finding], None] | None,
    action: Callable[[Session, ast.Insert | ast.StatementSet], T],
    load: Loader | None = None,
    catalog_tables: Mapping[str, str] | None = None,
) -> T:
    """Apply the definitions up to the job, then ``action`` to the session and the job.

    ``warn`` gets a finding for what compiles but may not be meant, ``load`` gives the declarations of Python functions;
    ``catalog_tables`` as in :class:`Session`.  Raises the errors of all statements together, but not those that only
    follow from a faulty definition.
    """
    session = Session(options, warn, load=load, catalog_tables=catalog_tables)
    errors: list[FlinkplanError] = []
    for statement in script.statements:
        try:
            job = _job(statement)
            if isinstance(job, ast.CreateTable):
                job = session.create_table_as(job)
            if job is not None and not errors:
                job_of(script)
                return action(session, job)
            if job is not None:
                session.bind(job)
            elif not isinstance(statement, ast.QueryStatement):
                session.apply(statement)
        except FlinkplanError as error:
            if isinstance(statement, (ast.CreateTable, ast.CreateView)):
                session.catalog.doubt(statement.name.names)
            if isinstance(statement, ast.CreateFunction):
                session.catalog.faulty_functions.add(str(statement.name).upper())
            errors += [each for each in error.errors if not isinstance(each, FaultyDefinition)]
    raise combined_error(errors) if errors else _nothing_to_compile(script)


def definitions(
    script: ast.Script,
    options: Mapping[str, str],
    load: Loader | None = None,
    catalog_tables: Mapping[str, str] | None = None,
) -> Session:
    """A session with the definitions of a script; its jobs are ignored.  Raises the first error."""
    session = Session(options, load=load, catalog_tables=catalog_tables)
    for statement in script.statements:
        job = _job(statement)
        if isinstance(job, ast.CreateTable):
            session.create_table_as(job)
        elif job is None and not isinstance(statement, (ast.QueryStatement, ast.ExecutePlan)):
            session.apply(statement)
    return session
