"""``flinkplan explain``."""

from __future__ import annotations

import click

from .options import assignment
from .pipelines import load_plan_or_pipeline


@click.command(short_help="Show the operators of a plan or pipeline as a tree.")
@click.argument("plan")
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option first.")
@click.option("--physical", is_flag=True, help="Show what runs each operator on Spark, and why.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(plan: str, options: tuple[tuple[str, str], ...], physical: bool, format_: str) -> None:
    """Show PLAN (a compiled plan, a SQL script or a spec in YAML) as a tree from the sinks down.

    Behind each operator stand the kinds of rows it emits (I insert, UB and UA update before and after, D delete), its
    keys, and its states with their TTLs. With --physical stand there Spark's operators or the kernel that run it; each
    sink is a query of its own.
    """
    from ..plan.explain import explain_json, explain_lines
    from ..plan.printable import printable

    compiled = load_plan_or_pipeline(plan, dict(options))
    if physical:
        from ..executor.checks import check_runnable
        from ..executor.parts import queries_of
        from ..executor.physical import physical_json, physical_lines

        check_runnable(compiled)
        queries = queries_of(compiled)
    if format_ == "json":
        import json

        shown = physical_json(queries) if physical else explain_json(compiled)
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    # all lines first: a tree too deep to draw is refused before anything is printed
    for line in list(physical_lines(queries) if physical else explain_lines(compiled)):
        if line.name:
            name = click.style(printable(line.name), bold=True)
            click.echo(f"{click.style(line.branches, dim=True)}{name}  {printable(line.text)}")
        else:
            click.echo(click.style(printable(str(line)), dim=True))
