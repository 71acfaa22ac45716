"""``flinkplan state drop``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..plan.printable import aligned, one_line
from ..plan.record import Record
from .confirming import confirm
from .options import key_values
from .signals import ends_raised

if TYPE_CHECKING:
    from ..state.keys import KeyValues

_RETAINED = re.compile(r"chk-\d+")
"""What Flink calls the directories of checkpoints."""

_NOTHING_DROPPED = 1
"""The exit code where the user does not want it."""


class _Request(Record):
    where: str
    sink: str | None
    operator: str
    key: KeyValues | None
    output: str | None
    is_confirmed: bool
    flink: str | None
    debug: bool


@click.command("drop", short_help="Remove entries from a state.")
@click.argument("where")
@click.option("--sink", metavar="NAME", help="Only in the query of this sink.")
@click.option(
    "--operator", metavar="N", required=True, help="Of this operator: a number, a name, a UID, or a pattern of them."
)
@click.option("--key", type=key_values, metavar="VALUES", help='Only the entries of this key: 1,a or [1, "a"].')
@click.option("-o", "--output", metavar="DIR", help="Write a new directory; WHERE stays as it is.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--flink", metavar="PLACE", help="The Flink to use: a Python with apache-flink, or the directory of a distribution."
)
@click.pass_context
def drop_command(
    context: click.Context,
    where: str,
    sink: str | None,
    operator: str,
    key: KeyValues | None,
    output: str | None,
    yes: bool,
    flink: str | None,
) -> None:
    """Remove the entries of an operator, or of one of its keys, from the state of a stopped job.

    WHERE is a checkpoint of 'flinkplan execute' or a savepoint of Flink. The command shows how many entries of each
    state it would remove, and asks. The new state takes the place of the old one at once; the old one stays beside it
    as WHERE.backup-1. With --output WHERE stays as it is.

    The operator's timers are removed too. Of a savepoint without --key, the operator is left out whole, with the
    positions of a source. What other operators and the sinks have been sent stays.

    This starts Spark, or for a savepoint a JVM with Flink's classes.
    """
    from .state_tables import is_tables

    request = _Request(where, sink, operator, key, output, yes, flink, bool(context.obj))
    if output is not None and Path(output).exists():
        from ..state.form import StateError

        raise StateError("there is something already", where=output, hint="name a directory that does not exist yet")
    is_done = (_drop_from_savepoint if is_tables(where) else _drop_from_checkpoint)(request)
    if not is_done:
        context.exit(_NOTHING_DROPPED)


def _drop_from_checkpoint(request: _Request) -> bool:
    from ..executor.checkpoints.drop import check_droppable, count_entries, drop_entries
    from ..executor.jobs.states import find_states, key_schema
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import session
    from ..state.checkpoint import CheckpointRecord
    from ..state.locking import held
    from .choosing import chosen_states

    record = CheckpointRecord(request.where)
    states = chosen_states(find_states(request.where), request.sink, request.operator)
    check_droppable(record)
    with ExitStack() as stack:
        stack.enter_context(held(record))
        stack.enter_context(ends_raised())
        stack.enter_context(nullcontext() if request.debug else quiet_jvm())
        spark = session(lean=True)
        if request.key is not None:
            request.key.check({state.name: len(key_schema(spark, state).fields) for state in states})
        counts = {state: n for state, n in count_entries(spark, states, request.key).items() if n}
        rows = [(s.sink, str(s.operator), s.node or "-", s.name, str(n)) for s, n in counts.items()]
        if not _wanted(request, ("sink", "operator", "node", "state", "entries"), rows):
            return not rows
        done = drop_entries(record, tuple(counts), request.key, request.output, spark)
    _print_done(sum(counts.values()), done.folder, done.backup)
    return True


def _drop_from_savepoint(request: _Request) -> bool:
    from ..flink.writing import fill_savepoint
    from ..state.filtering import StateWithout
    from ..state.form_folder import is_state_folder, new_folder
    from ..state.replacing import free_backup, replacing
    from .entries import EntryProgress, operator_name
    from .state_tables import chosen_tables, opened

    if request.sink is not None:
        raise click.UsageError("--sink is for checkpoints of 'flinkplan execute': a savepoint has all sinks in one.")
    if is_state_folder(request.where):
        raise click.UsageError("WHERE is an exported directory: remove rows from its Parquet files.")
    source = _savepoint_folder(request)
    with ends_raised(), opened(request.where, request.flink) as state:
        tables = chosen_tables(state, request.operator)
        if request.key is not None:
            request.key.check({table.name: len(table.key) for _, table in tables if table.kind.is_keyed})
        left = StateWithout(state, list({(o.uid, o.hash): o for o, _ in tables}.values()), request.key)
        dropped = left.dropped()
        rows = [(operator_name(o), t.name, str(dropped[t.table])) for o, t in tables if dropped.get(t.table)]
        if not _wanted(request, ("operator", "state", "entries"), rows):
            return not rows
        progress = EntryProgress()
        home = source if request.output is None else Path(request.output)
        backup = free_backup(source) if request.output is None else None
        with new_folder(home) if backup is None else replacing(source, backup) as work:
            fill_savepoint(left, work, request.flink, progress)
        progress.end()
    _print_done(sum(dropped.values()), home, backup)
    return True


def _savepoint_folder(request: _Request) -> Path:
    """The directory of a savepoint that can be replaced, or is only read."""
    from ..plan.files import Place

    path = Place.of(request.where).local
    assert path is not None
    folder = (path.parent if path.is_file() else path).absolute()
    if request.output is None and _RETAINED.fullmatch(folder.name):
        raise click.UsageError(
            "A retained checkpoint of Flink has files in other directories and cannot be moved aside; add --output DIR."
        )
    return folder


def _wanted(request: _Request, head: Sequence[str], rows: Iterable[tuple[str, ...]]) -> bool:
    """Show the entries to remove, and ask."""
    rows = list(rows)
    if not rows:
        click.echo("there are no such entries; nothing was changed", err=True)
        return False
    click.echo(aligned(tuple(head), rows))
    total = sum(int(row[-1]) for row in rows)
    if confirm(one_line(f"Remove {_entries(total)} from {request.where}?"), request.is_confirmed):
        return True
    click.echo("nothing was changed", err=True)
    return False


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"


def _print_done(number: int, folder: Path, backup: Path | None) -> None:
    click.echo(one_line(f"removed {_entries(number)}: wrote {folder}"), err=True)
    if backup is not None:
        click.echo(one_line(f"the old state is {backup}"), err=True)
