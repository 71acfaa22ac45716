"""``flinkplan state export`` and ``flinkplan state import``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..plan.printable import one_line
from .entries import EntryProgress, operator_name
from .signals import ends_raised

if TYPE_CHECKING:
    from ..state.form import Manifest

_FLINK = click.option(
    "--flink", metavar="PLACE", help="The Flink to use: a Python with apache-flink, or the directory of a distribution."
)


@click.command("export", short_help="Write the state of a savepoint as tables.")
@click.argument("savepoint")
@click.option("-o", "--output", metavar="FOLDER", required=True, help="The new directory to write.")
@click.option("--plan", "plan_file", metavar="PLAN", help="Name columns as in this plan, which is copied there too.")
@_FLINK
def export_command(savepoint: str, output: str, plan_file: str | None, flink: str | None) -> None:
    """Write the states of SAVEPOINT to a directory: manifest.json, and a Parquet file for each state.

    SAVEPOINT is a savepoint or a retained checkpoint of Flink. DuckDB, pandas and other tools can read the files.
    """
    from ..state.form_folder import write_folder
    from .state_tables import opened

    progress = EntryProgress()
    with opened(savepoint, flink, plan_file) as state:
        manifest = write_folder(state, output, progress)
    progress.end()
    click.echo(one_line(f"{output}: {_summary(manifest)}"))


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
    click.echo(one_line(f"{output}: {_summary(manifest)}"))


def _summary(manifest: Manifest) -> str:
    """The number of entries and states, and the states that were not decoded."""
    tables = list(manifest.tables())
    text = f"{sum(table.entries or 0 for _, table in tables)} entries of {len(tables)} states"
    opaque = [f"{operator_name(operator)} {table.name}" for operator, table in tables if table.opaque]
    return f"{text}; copied as bytes, not decoded: {', '.join(opaque)}" if opaque else text
