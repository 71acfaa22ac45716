"""Executes the statements and commands of the shell."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import click

from ...plan.errors import FlinkplanError
from ...plan.interpreter import deep_recursion
from ...plan.printable import one_line, printable
from ...planner.sql import parse_script
from ...planner.sql.ast import Show, Statement, StopJob
from ...table import EnvironmentSettings, QueryResult, TableEnvironment, TableResult
from ...table.defaults import defaults
from ..errors import INTERNAL, INTERRUPTED, ProcessEnd, code_of, print_error, print_internal_error, print_warning
from ..inputs import Tree
from ..options import read_pipeline_text
from ..results import Shown, show
from ..signals import Signals, end_process
from .engine import Engine
from .jobs import FAILED, Jobs, ShellJob
from .texts import COMMANDS, command_of

_STATEMENTS = {
    "SELECT …": "show rows, as set by 'sql-client.execution.result-mode': 'table', 'changelog' or 'tableau'",
    "INSERT INTO …": "start a job in the background; SET 'table.dml-sync' = 'true' waits for its end",
    "SHOW JOBS, STOP JOB 'id'": "list the jobs of this shell, stop one; WITH SAVEPOINT keeps its state",
    "SHOW TABLES, DESCRIBE name": "show the catalog",
    "EXPLAIN, COMPILE PLAN": "show the plan of a statement, write it to a file",
}


class Shell:
    """A session that executes statements; ``options`` are its first options.

    ``debug`` says whether to print tracebacks of internal errors, ``is_interactive`` whether a user types statements.
    """

    def __init__(self, options: Mapping[str, str], debug: bool = False) -> None:
        self._debug = debug
        self.is_interactive = False
        self._signals = Signals()
        self.engine = Engine(options)
        self.jobs = Jobs(self.engine, self._signals)
        with defaults(catalog_tables=Tree().catalog_tables()):
            self.environment = TableEnvironment(EnvironmentSettings(options), self.jobs, print_warning)

    def execute(self, text: str, file: str | None = None) -> int:
        """Execute a command of the shell, or statements up to the first that fails; returns the exit code.

        ``file`` is the name of the file that the text is from.  Raises :class:`EOFError` for QUIT, :class:`ProcessEnd`
        for a signal that ends the shell.
        """
        try:
            command = command_of(text)
            if command is not None:
                word, rest = command
                return _COMMANDS[word](self, rest)
            with deep_recursion:
                return self._script(text, file)
        except FlinkplanError as e:
            print_error(e)
            return e.exit_code
        except ProcessEnd:
            raise
        except KeyboardInterrupt as e:
            click.echo("stopped", err=True)
            return INTERRUPTED if self.is_interactive else self.interrupted(e)
        except EOFError:
            raise
        except Exception as e:
            print_internal_error(e, self._debug)
            return INTERNAL

    def notices(self) -> None:
        """Print the jobs that have ended since the last call."""
        for job, error in self.jobs.changed():
            click.echo(
                f"job {job.id} ({one_line(job.name)}) has {'failed' if job.status == FAILED else 'finished'}", err=True
            )
            if error is not None:
                print_error(error)

    def finish(self) -> int:
        """Wait for the running jobs; Ctrl-C stops them.  Returns the exit code."""
        code = 0
        try:
            with self._signals:
                for error in self.jobs.finish():
                    print_error(error)
                    code = error.exit_code
        except KeyboardInterrupt as e:
            return self.interrupted(e)
        return code

    def interrupted(self, interrupt: KeyboardInterrupt) -> int:
        """Stop the jobs and the JVM at the end of the shell; returns the exit code."""
        self.close()
        end_process(self._signals)
        return code_of(interrupt)

    def close(self) -> None:
        """Stop the running jobs and print them."""
        for job in self.jobs.stop_all():
            click.echo(f"job {job.id} ({one_line(job.name)}) is stopped{_where_state_is(job)}", err=True)

    def _script(self, text: str, file: str | None = None) -> int:
        for statement in parse_script(text, file).statements:
            with self._signals:
                self._show(self._result(statement))
        return 0

    def _result(self, statement: Statement) -> TableResult:
        if isinstance(statement, Show) and statement.what == "JOBS":
            self.notices()
            return TableResult(("job id", "job name", "status", "start time"), self.jobs.rows())
        if isinstance(statement, StopJob):
            savepoint = self.jobs.stop(statement)
            return TableResult() if savepoint is None else TableResult(("savepoint path",), [(savepoint,)])
        before = len(self.jobs)
        result = self.environment.execute_statement(statement)
        if len(self.jobs) > before and not isinstance(result, QueryResult):
            job = self.jobs.newest
            return TableResult(("job id", "job name"), [(job.id, job.name)])
        return result

    def _show(self, result: TableResult) -> None:
        if isinstance(result, QueryResult):
            config = self.environment.get_config()
            show(result, config, "TABLE", Shown(is_paged=self.is_interactive), self._signals.obey)
        else:
            click.echo(printable(str(result)))

    # The shell's own commands

    def _help(self, rest: str) -> int:
        formatter = click.HelpFormatter()
        with formatter.section("Statements of Flink SQL, which end with a semicolon"):
            formatter.write_dl(list(_STATEMENTS.items()))
        with formatter.section("Commands of the shell"):
            formatter.write_dl(list(COMMANDS.items()))
        click.echo(formatter.getvalue(), nl=False)
        return 0

    def _quit(self, rest: str) -> int:
        raise EOFError

    def _clear(self, rest: str) -> int:
        click.clear()
        return 0

    def _source(self, path: str) -> int:
        if not path or path == "-":
            raise FlinkplanError("SOURCE needs the name of a file", hint="SOURCE script.sql")
        return self._script(*read_pipeline_text(path))


_COMMANDS: Mapping[str, Callable[[Shell, str], int]] = {
    "HELP": Shell._help,
    "QUIT": Shell._quit,
    "CLEAR": Shell._clear,
    "SOURCE": Shell._source,
}


def _where_state_is(job: ShellJob) -> str:
    return f"; it can continue from {job.checkpoint}" if job.checkpoint else ""
