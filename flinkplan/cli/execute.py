"""``flinkplan execute``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .jobs import JobRunner, job_options
from .options import assignment, check_session_option, read_plan_text
from .pipelines import restore


@click.command(short_help="Run a plan on Spark.")
@click.argument("plan")
@click.option("--if-exists", is_flag=True, help="Do nothing if PLAN does not exist.")
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option.")
@click.option("--tables", metavar="SCRIPT", help="Replace tables of the plan by those of this script.")
@job_options
@click.pass_obj
def command(
    debug: bool,
    /,
    plan: str,
    if_exists: bool,
    options: tuple[tuple[str, str], ...],
    tables: str | None,
    **job: Any,
) -> None:
    """Run PLAN (a file, or - for standard input) on Spark Structured Streaming.

    A job whose sources are all bounded runs to the end of its input, fires every open window and stops. Other jobs run
    until Ctrl-C, and continue from their checkpoint when started again. A plan in which 'flinkplan validate' finds an
    error is not started.

    --set sets an option that the plan leaves to the session that executes it, such as table.local-time-zone; options
    that the plan fixes cannot be changed. --tables names a script (SQL, or a spec in YAML): its tables replace those of
    the same names in the plan, for example files a topic in a test. A plan with temporary tables needs such a script,
    because it holds only their names.

    Python functions that the plan calls are looked up by their names in --py-files, and in py-files of pyproject.toml;
    --function says what one is called there if it has another name, as does a CREATE FUNCTION in the script of
    --tables.
    """
    from ..compat.validation import read_plan

    if if_exists and plan != "-" and not Path(plan).exists():
        click.echo(f"{plan} does not exist; nothing to do", err=True)
        return
    session = dict(options)
    for key, value in session.items():
        check_session_option(key, value)
    text, name = read_plan_text(plan)
    compiled = read_plan(text, name)
    if tables is not None:
        compiled = restore(compiled, tables, session, job["py_files"])
    with JobRunner(debug=debug, name=name, **job) as runner:
        runner.start(compiled, session, single=True)
        runner.wait()
