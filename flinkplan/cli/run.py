"""``flinkplan run``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from .errors import print_warning
from .inputs import Tree, project_files
from .jobs import JobRunner, job_options
from .options import assignment, catalog_tables_option, duration, read_pipeline_text, replace_pyflink_option
from .results import Shown, show


@click.command(short_help="Run the statements of a SQL script, COMPILE PLAN and EXECUTE PLAN among them.")
@click.argument("script")
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Stop each SELECT after N rows.")
@click.option("--timeout", type=duration, metavar="DURATION", help="Stop each SELECT after this time, such as 10s.")
@catalog_tables_option
@replace_pyflink_option
@job_options
@click.pass_obj
def command(
    debug: bool,
    /,
    script: str,
    options: tuple[tuple[str, str], ...],
    limit: int | None,
    timeout: int | None,
    catalog_tables: tuple[str, ...],
    replace_pyflink: bool,
    **job: Any,
) -> None:
    """Run the statements of SCRIPT (SQL, or a spec in YAML; - for SQL on standard input) one after the other.

    A bounded job ends before the next statement starts; streaming jobs run side by side until Ctrl-C. A SELECT prints
    each change with its row kind until its input ends; with --set sql-client.execution.result-mode=table it prints the
    final rows instead.

    SCRIPT can also be a Python program that uses the Table API of PyFlink.
    """
    from ..plan.errors import PlanError
    from ..plan.printable import printable
    from ..planner.script import parse_pipeline
    from ..table import EnvironmentSettings, QueryResult, TableEnvironment
    from ..table.environment import defaults, starts_job
    from ..table.programs import is_program, run_program

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
    shown = Shown(limit, None if timeout is None else timeout / 1000)
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
