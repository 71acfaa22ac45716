"""The command line: ``flinkplan COMMAND``.

Commands are imported when they are called, so that ``--help`` is fast and only ``execute`` starts Spark.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from ..plan.errors import FlinkplanError
from ..plan.interpreter import deep_recursion
from .errors import INTERNAL, code_of, print_error, print_internal_error
from .signals import disregard_signals

COMMANDS = {
    "compile": "Compile a pipeline to a plan.",
    "execute": "Run a plan on Spark.",
    "run": "Run the statements of a SQL script, COMPILE PLAN and EXECUTE PLAN among them.",
    "sql": "Open a SQL shell, which shows the rows of each SELECT.",
    "gateway": "Serve Flink's SQL Gateway protocol.",
    "test": "Run the unit tests of pipelines.",
    "explain": "Show the operators of a plan or pipeline as a tree.",
    "validate": "Check a plan for errors.",
    "lineage": "Show which columns of sources the columns of sinks come from.",
    "functions": "Describe the Java functions in jars.",
    "ttl": "List the states of a plan and set their TTLs.",
    "diff": "Tell whether state survives a change from one plan to another.",
    "upgrade": "Convert a plan to a newer release of Flink.",
    "doctor": "Tell why nothing comes out of a job.",
    "state": "Show, export, import and drop the state of a job.",
    "move": "Move a job with its state from Flink to Spark.",
    "migrate": "Carry the state of a job over to a changed plan.",
    "savepoint": "Copy the checkpoint of a job, which may be running.",
    "rescale": "Bring the state of a checkpoint into another number of partitions.",
    "rule": "Explain a rule of diff or validate, or list them.",
    "init": "Write a commented pipeline to start from.",
}


class CommandGroup(click.Group):
    """A group whose commands each live in a module of this package, as its ``command``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f".{cmd_name}", __package__).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as e:
            from ..plan.findings import nearest

            hint = nearest(args[0], COMMANDS)
            raise click.UsageError(f"{e.message} {hint[0].upper()}{hint[1:]}" if hint else e.message, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        from .. import __version__

        click.echo(f"flinkplan {__version__}")
        ctx.exit()


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Print the version."
)
@click.option("--debug", is_flag=True, envvar="FLINKPLAN_DEBUG", help="Print a traceback for internal errors.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Compile Flink SQL to a plan, keep the plan in git, run it on Spark."""
    ctx.obj = debug


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with one of the exit codes of docs/exit-codes.md."""
    arguments = list(sys.argv[1:] if args is None else args)
    with deep_recursion:
        code = run(arguments)
    disregard_signals()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code."""
    try:
        result = cli.main(list(arguments), prog_name="flinkplan", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except FlinkplanError as e:
        print_error(e)
        return e.exit_code
    except RecursionError:
        error = FlinkplanError("the input is nested too deeply")
        print_error(error)
        return error.exit_code
    except click.exceptions.Exit as e:
        return e.exit_code
    except click.ClickException as e:
        e.show()
        return e.exit_code
    except click.Abort as e:
        return code_of(e.__cause__)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 PTH123 - the reader has closed the pipe
        return 0
    except Exception as e:
        if ended := _end_of_jvm(e):
            print_error(ended)
            return ended.exit_code
        print_internal_error(e, "--debug" in arguments or bool(os.environ.get("FLINKPLAN_DEBUG")))
        return INTERNAL


def _end_of_jvm(error: Exception) -> FlinkplanError | None:
    """What to say of an error where Spark's JVM has ended: only a process with py4j has started one."""
    if "py4j" not in sys.modules:
        return None
    from ..executor.jobs.failures import end_of_jvm

    return end_of_jvm(error)
