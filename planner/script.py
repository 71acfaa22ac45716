"""Scripts: definitions, then one INSERT or statement set to compile."""

from __future__ import annotations

from collections.abc import Mapping

from ..plan.document import Plan
from ..plan.errors import FlinkplanError
from .binder.errors import BindError
from .session import Session
from .spec import is_spec, parse_spec
from .sql import ast, parse_script


def parse_pipeline(text: str, file: str | None) -> ast.Script:
    """The statements of a pipeline: of a spec in YAML where the file's name ends so, else of a SQL script."""
    return parse_spec(text, file) if is_spec(file) else parse_script(text, file)


def job_of(script: ast.Script) -> ast.Insert | ast.StatementSet:
    """The statement that a script exists for.  Raises :class:`FlinkplanError` if there is none, or several."""
    jobs = [job for job in map(_job, script.statements) if job is not None]
    if not jobs:
        raise FlinkplanError(
            "the script has nothing to compile: there is no INSERT and no statement set",
            where=script.source.file,
            hint="add INSERT INTO … SELECT …",
        )
    if len(jobs) > 1:
        raise BindError(
            "the script has several INSERTs, a plan is of one job",
            jobs[1].span,
            "put them together: EXECUTE STATEMENT SET BEGIN … END;",
        )
    return jobs[0]


def _job(statement: ast.Statement) -> ast.Insert | ast.StatementSet | None:
    if isinstance(statement, (ast.Insert, ast.StatementSet)):
        return statement
    if isinstance(statement, ast.CompilePlan):
        return statement.statement
    if isinstance(statement, ast.Explain):
        return _job(statement.statement)
    return None


def compile_statements(script: ast.Script, options: Mapping[str, str]) -> Plan:
    """Apply the definitions up to the job, and compile the job."""
    session = Session(options)
    job = job_of(script)
    for statement in script.statements:
        if _job(statement) is not None:
            return session.compile(job)
        session.apply(statement)
    raise AssertionError("the job is among the statements")
