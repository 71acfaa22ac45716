"""``flinkplan state export`` and ``flinkplan state import``."""

from __future__ import annotations

from collections.abc import Mapping

import click

from ..plan.document import load
from ..plan.printable import one_line
from .checkpoint_states import checkpoint_state
from .entries import EntryProgress, summary
from .signals import ends_raised
from .variables import variable_options

_FLINK = click.option(
    "--flink", metavar="PLACE", help="The Flink to use: a Python with apache-flink, or the directory of a distribution."
)


@click.command("export", short_help="Write the state of a job as tables.")
@click.argument("state")
@click.option("-o", "--output", metavar="FOLDER", required=True, help="The new directory to write.")
@click.option("--plan", "plan_file", metavar="PLAN", help="Name columns as in this plan, which is copied there too.")
@_FLINK
@variable_options
@click.pass_obj
def export_command(
    debug: bool,
    state: str,
    output: str,
    plan_file: str | None,
    flink: str | None,
    variables: Mapping[str, str],
) -> None:
    """Write the states of STATE to a directory: manifest.json, and a Parquet file for each state.

    STATE is a savepoint or a retained checkpoint of Flink, or a checkpoint of a stopped job of 'flinkplan execute',
    whose states are written as Flink's operators would keep them. DuckDB, pandas and other tools can read the files.
    """
    from ..state.checkpoint import CheckpointRecord
    from ..state.form import StateError
    from ..state.form_folder import write_folder
    from .state_tables import is_tables, named_plan, opened

    progress = EntryProgress()
    with ends_raised():
        if is_tables(state):
            with opened(state, flink, named_plan(plan_file)) as tables:
                manifest = write_folder(tables, output, progress)
        else:
            record = CheckpointRecord(state)
            if not record.exists:
                raise StateError("there is neither a savepoint nor a checkpoint of flinkplan here", where=state)
            options = record.session_options or {}
            plan = record.plan() if plan_file is None else load(plan_file)
            with checkpoint_state(state, plan, variables, options, flink, debug=debug) as tables:
                manifest = write_folder(tables, output, progress)
    progress.end()
    click.echo(one_line(f"{output}: {summary(manifest)}"))


@click.command("import", short_help="Write a savepoint from tables.")
@click.argument("folder")
@click.option("-o", "--output", metavar="SAVEPOINT", required=True, help="The new savepoint to write.")
@_FLINK
def import_command(folder: str, output: str, flink: str | None) -> None:
    """Write a savepoint of Flink, in the canonical format, from a FOLDER that export has written.

    Entries in the Parquet files may be changed, removed or added; the columns must stay as the manifest declares them.
    """
    from ..flink.writing import write_savepoint
    from ..state.form_folder import FolderState

    progress = EntryProgress()
    with ends_raised():
        manifest = write_savepoint(FolderState(folder), output, flink, progress)
    progress.end()
    click.echo(one_line(f"{output}: {summary(manifest)}"))
