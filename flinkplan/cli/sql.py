"""``flinkplan sql``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .errors import ProcessEnd
from .options import assignment, read_pipeline_text, session_options
from .variables import allow_database, variable_options

if TYPE_CHECKING:
    from .shell.shell import Shell


@click.command(short_help="Open a SQL shell, which shows the rows of each SELECT.")
@click.option("-i", "--init", metavar="SCRIPT", help="Execute this file first; by default init.sql of the user.")
@click.option("-f", "--file", metavar="SCRIPT", help="Execute the statements of this file, then exit.")
@click.option("-e", "--execute", "text", metavar="SQL", help="Execute these statements, then exit.")
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option.")
@click.option("--master", metavar="URL", help="Spark's master; local[*] by default.")
@click.option("--conf", multiple=True, type=assignment, metavar="KEY=VALUE", help="A setting of Spark.")
@variable_options
@allow_database
@click.pass_obj
def command(
    debug: bool,
    /,
    init: str | None,
    file: str | None,
    text: str | None,
    options: tuple[tuple[str, str], ...],
    master: str | None,
    conf: tuple[tuple[str, str], ...],
    variables: Mapping[str, str],
    databases: tuple[str, ...],
) -> int:
    """Execute statements as they are typed, in one session on one running Spark.

    A SELECT shows its rows until its input ends or Ctrl-C stops it; an INSERT starts a job in the background. HELP
    lists the commands of the shell.

    Without a terminal, and with -f or -e, the statements are executed one after the other. The first one that fails
    ends the shell with its exit code; otherwise the shell waits until all jobs have ended.
    """
    from .shell.engine import own_stderr
    from .shell.shell import Shell
    from .signals import ends_raised

    if file is not None and text is not None:
        raise click.UsageError("--file and --execute exclude each other.")
    settings = session_options(options, master, conf, variables, databases)
    with own_stderr(), ends_raised():
        shell = Shell(settings, debug)
        shell.engine.start()
        try:
            return _session(shell, init, file, text)
        except ProcessEnd as e:
            return shell.interrupted(e)
        finally:
            shell.close()


def _session(shell: Shell, init: str | None, file: str | None, text: str | None) -> int:
    code = _begin(shell, init)
    if code:
        return code
    if file is None and text is None and sys.stdin.isatty():
        return _interactive(shell)
    if text is None:
        text, name = read_pipeline_text(file or "-")
        return shell.execute(text, name) or shell.finish()
    return shell.execute(text) or shell.finish()


def _begin(shell: Shell, init: str | None) -> int:
    """Execute the first statements: those of the file ``init``, else those of the user's init.sql, if there is one."""
    if init is not None:
        return shell.execute(f"SOURCE {init}")
    own = _settings_folder() / "init.sql"
    return shell.execute(f"SOURCE {own}") if own.is_file() else 0


def _interactive(shell: Shell) -> int:
    from .shell.prompt import prompt_session

    click.echo("Flink SQL on Spark. A semicolon ends a statement, HELP lists the commands, QUIT ends the shell.")
    shell.is_interactive = True
    prompt = prompt_session(lambda: shell.environment.catalog, _settings_folder() / "history")
    while True:
        shell.notices()
        try:
            shell.execute(prompt.prompt())
        except ProcessEnd:
            raise
        except KeyboardInterrupt:
            continue
        except EOFError:
            return 0


def _settings_folder() -> Path:
    """Where a user's settings and history are: ``FLINKPLAN_HOME``, or the platform's folder for them."""
    return Path(os.environ.get("FLINKPLAN_HOME") or click.get_app_dir("flinkplan"))
