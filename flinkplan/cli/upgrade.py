"""``flinkplan upgrade``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import assignment, check_output, force_option, read_plan_text, write_output

if TYPE_CHECKING:
    from ..compat.upgrade import Upgrade


@click.command(short_help="Convert a plan to a newer release of Flink.")
@click.argument("old")
@click.option("--to", default="2.3", show_default=True, metavar="RELEASE", help="The release of Flink to convert to.")
@click.option("--spec", metavar="FILE", help="Compile this pipeline, and keep the ids and TTLs of OLD.")
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option for --spec.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write the plan to this file.")
@force_option
@click.option("-i", "--in-place", is_flag=True, help="Write the plan to OLD.")
def command(
    old: str,
    to: str,
    spec: str | None,
    options: tuple[tuple[str, str], ...],
    output: str | None,
    force: bool,
    in_place: bool,
) -> None:
    """Convert the plan OLD to a newer release of Flink; TTLs set by hand are kept. Releases may be skipped.

    With --spec the pipeline is compiled again, and its plan gets the ids, versions and TTLs of the operators that OLD
    has too. What was changed is printed to standard error.
    """
    from ..compat.upgrade import migrate
    from ..plan.document import dumps, loads

    if in_place and (output or old == "-"):
        raise click.UsageError("--in-place writes OLD, which must be a file, and excludes --output.")
    if options and spec is None:
        raise click.UsageError("--set needs --spec: a compiled plan's options are fixed.")
    check_output(output, force)
    text, name = read_plan_text(old)
    upgrade = migrate(loads(text, name), to)
    _print_migrations(upgrade)
    plan = upgrade.plan
    if spec is not None:
        from .pipelines import compile_pipeline
        from .succession import succeed

        plan = succeed(plan, compile_pipeline(spec, dict(options)))
    write_output(dumps(plan), old if in_place else output)


def _print_migrations(upgrade: Upgrade) -> None:
    for migration in upgrade.migrations:
        click.echo(f"{migration.number}: {migration.summary}", err=True)
