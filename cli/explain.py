"""``flinkplan explain``."""

from __future__ import annotations

import click

from .options import assignment
from .pipelines import load_plan_or_pipeline


@click.command(short_help="Show the operators of a plan or pipeline as a tree.")
@click.argument("plan")
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option first.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(plan: str, options: tuple[tuple[str, str], ...], format_: str) -> None:
    """Show PLAN (a compiled plan, a SQL script or a spec in YAML) as a tree from the sinks down.

    Behind each operator stand the kinds of rows it emits (I insert, UB and UA update before and after, D delete), its
    keys, and its states with their TTLs.
    """
    from ..plan.explain import explain_json, explain_lines

    compiled = load_plan_or_pipeline(plan, dict(options))
    if format_ == "json":
        import json

        click.echo(json.dumps(explain_json(compiled), indent=2, ensure_ascii=False))
        return
    for line in explain_lines(compiled):
        if line.name:
            click.echo(f"{click.style(line.branches, dim=True)}{click.style(line.name, bold=True)}  {line.text}")
        else:
            click.echo(click.style(str(line), dim=True))
