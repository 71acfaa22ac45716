"""The option of the commands that send events."""

from __future__ import annotations

import click

openlineage_option = click.option(
    "--openlineage",
    is_flag=True,
    help="Send events of OpenLineage with the lineage of columns, to where OPENLINEAGE_URL or openlineage.yml says.",
)
