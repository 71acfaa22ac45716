"""``flinkplan run``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..plan.errors import FlinkplanError
from .errors import print_warning
from .jobs import JobRunner, job_options
from .options import assignment, catalog_tables_option, duration, read_pipeline_text, replace_pyflink_option
from .results import Shown, show

if TYPE_CHECKING:
    from ..planner.sql.source import Span


@click.command(short_help="Run the statements of a SQL script, COMPILE PLAN and EXECUTE PLAN among them.")
@click.argument("script")
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Stop each SELECT after N rows.")
@click.option("--timeout", type=duration, metavar="DURATION", help="Stop each SELECT after this time, such as 10s.")
@catalog_tables_option
@replace_pyflink_option
@click.option(
    "-e",
    "--endpoint",
    metavar="HOST:PORT",
    help="Run the statements in a running 'flinkplan gateway', whose Spark has started already.",
)
@job_options
@click.pass_context
def command(
    context: click.Context,
    /,
    script: str,
    options: tuple[tuple[str, str], ...],
    limit: int | None,
    timeout: int | None,
    catalog_tables: tuple[str, ...],
    replace_pyflink: bool,
    endpoint: str | None,
    **job: Any,
) -> None:
    """Run the statements of SCRIPT (SQL, or a spec in YAML; - for SQL on standard input) one after the other.

    A bounded job ends before the next statement starts; streaming jobs run side by side until Ctrl-C. A SELECT prints
    each change with its row kind until its input ends; with --set sql-client.execution.result-mode=table it prints the
    final rows instead.

    SCRIPT can also be a Python program that uses the Table API of PyFlink.

    With --endpoint, a SQL script runs in a session of its own of that gateway, and begins at once: no Spark has to
    start. Paths are of the gateway's machine. Each INSERT is waited for, as
    SET 'table.dml-sync' = 'true' says; Ctrl-C ends the waiting, and the job goes on until STOP JOB.
    """
    if endpoint is not None:
        _run_in_gateway(context, endpoint, script, dict(options), Shown(limit, _seconds(timeout)))
        return
    debug: bool = context.obj
    from ..plan.errors import PlanError
    from ..plan.files import is_program
    from ..plan.printable import printable
    from ..planner.script import parse_pipeline
    from ..table import EnvironmentSettings, QueryResult, TableEnvironment
    from ..table.defaults import defaults
    from ..table.environment import starts_job
    from ..table.programs import run_program
    from .inputs import Tree, project_files

    py_files = (*job["py_files"], *project_files())
    tables = Tree(catalog_tables=catalog_tables).catalog_tables()
    if is_program(script):
        with JobRunner(debug=debug, name=script, **job) as runner:
            start = runner.start
            run_program(
                script,
                (),
                dict(options),
                print_warning,
                start,
                py_files=py_files,
                catalog_tables=tables,
                replace_pyflink=replace_pyflink,
            )
            runner.wait()
        return
    text, name = read_pipeline_text(script)
    shown = Shown(limit, _seconds(timeout))
    statements = parse_pipeline(text, name).statements
    if not statements:
        raise PlanError("the script has no statements", where=name, hint="add one, such as INSERT INTO … SELECT …")
    is_single = sum(map(starts_job, statements)) == 1
    with JobRunner(debug=debug, name=script, **job) as runner:
        start = partial(runner.start, single=is_single)
        with defaults(py_files=py_files, catalog_tables=tables):
            environment = TableEnvironment(EnvironmentSettings(dict(options)), start, print_warning)
        for statement in statements:
            result = environment.execute_statement(statement)
            if isinstance(result, QueryResult):
                show(result, environment.get_config(), "TABLEAU", shown, runner.obey)
            elif list(result.collect()):
                click.echo(printable(str(result)))
        runner.wait()


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


_OF_GATEWAY = ("script", "options", "limit", "timeout", "endpoint")
"""The parameters of the command that hold for a gateway, too."""


def _run_in_gateway(
    context: click.Context, endpoint: str, script: str, options: Mapping[str, str], shown: Shown
) -> None:
    """Run the statements of a script in a session of a running gateway."""
    from ..plan.files import is_program
    from ..plan.printable import printable
    from ..planner.spec import is_spec
    from ..planner.sql import parse_script
    from .gateway_client import GatewaySession

    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in _OF_GATEWAY and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[-1]} has no meaning with --endpoint: give it to the gateway")
    text, name = read_pipeline_text(script)
    if is_program(script) or is_spec(name):
        raise FlinkplanError("a gateway runs SQL scripts only", where=name, hint="leave out --endpoint")
    statements = parse_script(text, name).statements
    with GatewaySession(endpoint, {"table.dml-sync": "true", **options}) as session:
        for statement in statements:
            try:
                result = session.execute(_at_its_place(statement.span))
            except FlinkplanError as e:
                e.where = e.where or statement.span.location
                raise
            if result.is_query:
                show(result, result.options, "TABLEAU", shown, _go_on)
            elif result.has_rows:
                from ..table import TableResult

                with result.texts() as rows:
                    table = TableResult([name for name, _ in result.columns], [tuple(row) for row in rows])
                if list(table.collect()):
                    click.echo(printable(str(table)))


def _at_its_place(span: Span) -> str:
    """The text of a statement behind as many lines and columns as in its script, so that errors tell its place."""
    before = span.source.text[: span.start]
    line_start = before.rfind("\n") + 1
    return "\n" * before.count("\n") + " " * (len(before) - line_start) + span.text


def _go_on() -> None:
    """Nothing is deferred here: Ctrl-C raises KeyboardInterrupt at once."""
