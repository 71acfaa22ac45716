"""``flinkplan state``."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from ..plan.printable import aligned, json_text, one_line
from .choosing import chosen_states
from .options import key_values
from .signals import ends_raised
from .state_drop import drop_command
from .state_folders import export_command, import_command

if TYPE_CHECKING:
    from ..executor.jobs.states import Entry, State
    from ..state.keys import KeyValues


class StateCommands(click.Group):
    """A group whose default command shows a state."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_named = bool(args) and (args[0] in self.commands or args[0] in self.get_help_option_names(ctx))
        return super().parse_args(ctx, args if is_named else [_SHOW, *args])


_SHOW = "show"


@click.group(
    cls=StateCommands,
    short_help="Show, export, import and drop the state of a job.",
    subcommand_metavar="[show] CHECKPOINT [OPTIONS] | COMMAND [ARGS]...",
)
def command() -> None:
    """Show the state of a job, remove entries from it, export it as tables, or import a savepoint from tables."""


command.add_command(export_command)
command.add_command(import_command)
command.add_command(drop_command)


@command.command(_SHOW, short_help="Count or list the entries of a state.")
@click.argument("checkpoint")
@click.option("--sink", metavar="NAME", help="Show only the query of this sink.")
@click.option("--operator", metavar="N", help="List the entries of this operator: a number, a name, or a pattern.")
@click.option("--key", type=key_values, metavar="VALUES", help='List the entries of this key: 1,a or [1, "a"].')
@click.option(
    "--limit", type=click.IntRange(0), default=20, show_default=True, help="The maximum number of entries per state."
)
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--plan", "plan_file", metavar="PLAN", help="Name columns as in this plan; of a savepoint.")
@click.option(
    "--flink", metavar="PLACE", help="The Flink to use: a Python with apache-flink, or the directory of a distribution."
)
@click.pass_obj
def show_command(
    debug: bool,
    checkpoint: str,
    sink: str | None,
    operator: str | None,
    key: KeyValues | None,
    limit: int,
    format_: str,
    plan_file: str | None,
    flink: str | None,
) -> None:
    """Count the entries of each state of CHECKPOINT; with --operator or --key list them, with their expiry.

    CHECKPOINT is a checkpoint of 'flinkplan execute', a savepoint or retained checkpoint of Flink, or a directory that
    export has written. It is only read.

    In a checkpoint, operators have Spark's number within the query of their sink, and the name of their exec node
    (join, or join#2). In a savepoint, they have their UID (8_join) or its hash. Keys and values are shown as JSON, with
    --format json one object per line. The command starts Spark, or for a savepoint a JVM with Flink's classes: name
    Flink with --flink, or with FLINK_PYTHON or FLINK_HOME in the environment.

    --key takes the values of the key's columns, or of the first of them, separated by commas, or as a JSON list as
    keys are shown: '["a,b", null]'.
    """
    from .state_tables import Selection, is_tables, named_plan, opened, show

    if is_tables(checkpoint):
        if sink is not None:
            raise click.UsageError(
                "--sink is for checkpoints of 'flinkplan execute': a savepoint has all sinks in one."
            )
        with opened(checkpoint, flink, named_plan(plan_file)) as tables:
            show(tables, Selection(operator, key, limit), format_)
        return
    from ..executor.jobs.states import count, entries, find_states, key_schema
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import session

    states = find_states(checkpoint)
    if not states and sink is None and operator is None:
        click.echo("no operator of this job has state", err=True)
        return
    states = chosen_states(states, sink, operator)
    with ends_raised(), nullcontext() if debug else quiet_jvm():
        spark = session(lean=True)
        if operator is None and key is None:
            _print_counts([(state, count(spark, state)) for state in states], format_)
            return
        columns = {} if key is None else {state: len(key_schema(spark, state).fields) for state in states}
        if key is not None:
            key.check({state.name: number for state, number in columns.items()})
        for state in states:
            if key is None or key.fits(columns[state]):
                _print_entries(state, list(entries(spark, state, key, limit)), format_)


def _print_counts(counts: list[tuple[State, int]], format_: str) -> None:
    if format_ == "json":
        for state, entries in counts:
            _print_json({**_head(state), "entries": entries})
    else:
        rows = [(s.sink, str(s.operator), s.node or "-", s.name, str(n)) for s, n in counts]
        click.echo(aligned(("sink", "operator", "node", "state", "entries"), rows))


def _print_entries(state: State, entries: list[Entry], format_: str) -> None:
    if format_ == "text":
        node = f" ({state.node})" if state.node else ""
        click.echo(one_line(f"{state.sink}, operator {state.operator}{node}, {state.name}"))
    for entry in entries:
        expires = entry.expires.isoformat(timespec="seconds") if entry.expires else None
        if format_ == "json":
            fields = {"key": entry.key, "value": entry.value, "expires": expires, "expired": entry.is_expired}
            _print_json({**_head(state), **fields})
        else:
            expiry = f"{'expired' if entry.is_expired else 'expires'} {expires}" if expires else "never expires"
            click.echo(one_line(f"  {_json(entry.key)}: {_json(entry.value)}  {expiry}"))


def _head(state: State) -> dict[str, Any]:
    return {"sink": state.sink, "operator": state.operator, "node": state.node, "state": state.name}


def _print_json(values: dict[str, Any]) -> None:
    click.echo(_json(values))


def _json(value: Any) -> str:
    return json_text(_plain(value), default=str)


def _plain(value: Any) -> Any:
    """A value that JSON can represent: binary values become hexadecimal digits."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else value
