"""Executing what is typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import click

from ...plan.errors import FlinkplanError
from ...plan.interpreter import with_deep_recursion
from ...plan.printable import one_line, printable
from ...planner.sql import parse_script
from ...planner.sql.ast import Show, Statement, StopJob
from ...table import EnvironmentSettings, QueryResult, TableEnvironment, TableResult
from ..errors import INTERNAL, INTERRUPTED, ProcessEnd, code_of, print_error, print_internal_error, print_warning
from ..options import read_input
from ..results import Shown, show
from ..signals import Signals, end_process
from .engine import Engine
from .jobs import FAILED, Jobs, ShellJob
from .texts import COMMANDS, command_of

_STATEMENTS = {
    "SELECT …": "show rows; SET 'sql-client.execution.result-mode' = 'table', 'changelog' or 'tableau' says how",
    "INSERT INTO …": "start a job; it runs on while more is typed, unless 'table.dml-sync' is true",
    "SHOW JOBS, STOP JOB 'id'": "the jobs of this shell; WITH SAVEPOINT keeps their state",
    "SHOW TABLES, DESCRIBE name": "the catalog",
    "EXPLAIN, COMPILE PLAN": "the plan of a statement, and its file",
}


class Shell:
    """A session of statements; ``options`` are what it begins with.

    ``debug``: print tracebacks of faults of our own.  ``is_interactive``: somebody types, and is asked for more.
    """

    def __init__(self, options: Mapping[str, str], debug: bool = False) -> None:
        self._debug = debug
        self.is_interactive = False
        self._signals = Signals()
        self.engine = Engine(options)
        self.jobs = Jobs(self.engine, self._signals)
        self.environment = TableEnvironment(EnvironmentSettings(options), self.jobs, print_warning)

    def execute(self, text: str) -> int:
        """Execute a command of the shell, or statements up to the first that fails; what a command would end with.

        Raises :class:`EOFError` where the shell is told to end, :class:`ProcessEnd` for a signal that ends it.
        """
        try:
            command = command_of(text)
            if command is not None:
                word, rest = command
                return _COMMANDS[word](self, rest)
            with with_deep_recursion:
                return self._script(text)
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
        """Tell of jobs that have ended by themselves."""
        for job, error in self.jobs.changed():
            click.echo(
                f"job {job.id} ({one_line(job.name)}) has {'failed' if job.status == FAILED else 'finished'}", err=True
            )
            if error is not None:
                print_error(error)

    def finish(self) -> int:
        """Wait for what still runs, until Ctrl-C stops it; what a command would end with."""
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
        """Leave nothing behind, now that the shell is to end; what a command would end with."""
        self.close()
        end_process(self._signals)
        return code_of(interrupt)

    def close(self) -> None:
        """Stop what still runs, and say so."""
        for job in self.jobs.stop_all():
            click.echo(f"job {job.id} ({one_line(job.name)}) is stopped{_kept(job)}", err=True)

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
        with formatter.section("Statements of Flink SQL, each with a semicolon at its end"):
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
        return self._script(*read_input(path))


_COMMANDS: Mapping[str, Callable[[Shell, str], int]] = {
    "HELP": Shell._help,
    "QUIT": Shell._quit,
    "CLEAR": Shell._clear,
    "SOURCE": Shell._source,
}


def _kept(job: ShellJob) -> str:
    return f"; it goes on from {job.checkpoint}" if job.checkpoint else ""
