"""``flinkplan state``."""

from __future__ import annotations

from contextlib import nullcontext
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click

from ..plan.printable import json_text, one_line
from .signals import ends_raised
from .state_folders import export_command, import_command
from .tables import aligned

if TYPE_CHECKING:
    from ..executor.jobs.states import Entry, State


class StateCommands(click.Group):
    """A group that shows a state where no command of it is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_named = bool(args) and (args[0] in self.commands or args[0] in self.get_help_option_names(ctx))
        return super().parse_args(ctx, args if is_named else [_SHOW, *args])


_SHOW = "show"


@click.group(
    cls=StateCommands,
    short_help="Show, export and import the state of a job.",
    subcommand_metavar="[show] CHECKPOINT [OPTIONS] | COMMAND [ARGS]...",
)
def command() -> None:
    """Show the state of a job, write it as tables, or make a savepoint of tables."""


command.add_command(export_command)
command.add_command(import_command)


@command.command(_SHOW, short_help="Count or list the entries of a state.")
@click.argument("checkpoint")
@click.option("--sink", metavar="NAME", help="Only the query of this sink.")
@click.option("--operator", metavar="N", help="Only this operator, by number, name or a pattern; list its entries.")
@click.option("--key", metavar="VALUES", help="Only entries under this key, its columns separated by commas.")
@click.option("--limit", type=int, default=20, show_default=True, help="At most so many entries a state.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--plan", "plan_file", metavar="PLAN", help="Name columns as in this plan; of a savepoint.")
@click.option(
    "--flink", metavar="PLACE", help="Where Flink is: a Python with apache-flink, or a distribution's folder."
)
@click.pass_obj
def show_command(
    debug: bool,
    checkpoint: str,
    sink: str | None,
    operator: str | None,
    key: str | None,
    limit: int,
    format_: str,
    plan_file: str | None,
    flink: str | None,
) -> None:
    """Count the entries of every state of CHECKPOINT; with --operator or --key list them, with their expiry.

    CHECKPOINT is the checkpoint of a job here, a savepoint or retained checkpoint of Flink, or a folder that export
    has written.

    Operators of a job here have a number within their sink's query, which is Spark's, and the name of their exec node
    (join, or join#2); those of Flink have their UID (8_join), else the hash of it. Keys and values are shown as JSON,
    one object a line with --format json. This reads only; it starts Spark, or for a savepoint Flink's classes, which
    --flink names, or FLINK_PYTHON or FLINK_HOME in the environment.
    """
    from .state_tables import Selection, is_tables, opened, show

    if is_tables(checkpoint):
        if sink is not None:
            raise click.UsageError("A savepoint has one state for all sinks: --sink is for checkpoints of a job here.")
        with opened(checkpoint, flink, plan_file) as tables:
            show(tables, Selection(operator, key, limit), format_)
        return
    from ..executor.jobs.states import count, entries, find_states
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import session

    states = _chosen(find_states(checkpoint), sink, operator)
    with ends_raised(), nullcontext() if debug else quiet_jvm():
        spark = session(lean=True)
        if operator is None and key is None:
            _print_counts([(state, count(spark, state)) for state in states], format_)
            return
        wanted = None if key is None else key.split(",")
        for state in states:
            _print_entries(state, list(entries(spark, state, wanted, limit)), format_)


def _chosen(states: list[State], sink: str | None, operator: str | None) -> list[State]:
    """The states asked for.  Raises :class:`PlanError` where there are none."""
    from ..plan.errors import PlanError

    found = [s for s in states if (sink is None or s.sink == sink) and (operator is None or _is(s, operator))]
    if not found:
        known = dict.fromkeys(f"{s.sink}: {s.operator}{f' {s.node}' if s.node else ''}" for s in states)
        raise PlanError("the checkpoint has no such operator", hint=f"there is {', '.join(known) or 'none with state'}")
    return found


def _is(state: State, operator: str) -> bool:
    names = (str(state.operator), state.node or "", (state.node or "").partition("#")[0])
    return any(fnmatchcase(name, operator) for name in names)


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
            told = {"key": entry.key, "value": entry.value, "expires": expires, "expired": entry.is_expired}
            _print_json({**_head(state), **told})
        else:
            when = f"{'expired' if entry.is_expired else 'expires'} {expires}" if expires else "never expires"
            click.echo(one_line(f"  {_json(entry.key)}: {_json(entry.value)}  {when}"))


def _head(state: State) -> dict[str, Any]:
    return {"sink": state.sink, "operator": state.operator, "node": state.node, "state": state.name}


def _print_json(values: dict[str, Any]) -> None:
    click.echo(_json(values))


def _json(value: Any) -> str:
    return json_text(_plain(value), default=str)


def _plain(value: Any) -> Any:
    """A value as JSON has it: binary as hexadecimal digits."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else value
