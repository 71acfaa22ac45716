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
@click.option(
    "--warm-up",
    "history",
    multiple=True,
    type=assignment,
    metavar="TABLE=FILES",
    help="Feed these files, the history of a table, before the job begins; sinks are not written.",
)
@click.option("--emit", is_flag=True, help="With --warm-up: write what each sink has at the end of the history.")
@job_options
@click.pass_obj
def command(
    debug: bool,
    /,
    plan: str,
    if_exists: bool,
    options: tuple[tuple[str, str], ...],
    tables: str | None,
    history: tuple[tuple[str, str], ...],
    emit: bool,
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

    --warm-up TABLE=FILES reads history before a new job begins: FILES is a file, a directory or a pattern such as
    /archive/orders/*.json, in the format of the table or in that of its ending. All tables are read in the order of
    event time. The state is then that of a job that has seen these rows when they came, and nothing has been written,
    or with --emit what each sink has in the end. After that the sources begin where their options say.
    """
    from ..compat.validation import read_plan
    from .warm_up import warm_up_of

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
        runner.start(compiled, session, single=True, warm_up=warm_up_of(compiled, history, emit, job["checkpoint"]))
        runner.wait()
