"""``flinkplan init``."""

from __future__ import annotations

from pathlib import Path

import click

_STARTERS = Path(__file__).parent / "starters"


@click.command(short_help="Write a commented pipeline to start from.")
@click.argument("folder", default=".", type=click.Path(file_okay=False))
@click.option("--as", "kind", type=click.Choice(("sql", "yaml")), default="sql", show_default=True)
def command(folder: str, kind: str) -> None:
    """Write a commented pipeline.sql or pipeline.yaml with data and tests into FOLDER, by default the current one."""
    from ..plan.errors import PlanError
    from ..plan.output import write_text

    target = Path(folder)
    pipeline = target / f"pipeline.{kind}"
    tests = target / "pipeline.test.yaml"
    texts = {name: (_STARTERS / name).read_text("utf-8") for name in (pipeline.name, "orders.json", tests.name)}
    files = {
        pipeline: texts[pipeline.name],
        target / "data/orders/orders.json": texts["orders.json"],
        tests: texts[tests.name].replace("pipeline: pipeline.sql", f"pipeline: {pipeline.name}"),
    }
    for file in files:
        if file.exists():
            raise PlanError("the file exists already", where=str(file), hint="name another folder")
    for file, text in files.items():
        write_text(file, text)
        click.echo(f"wrote {file}", err=True)
    click.echo(f"next: flinkplan test {target}", err=True)
    click.echo(f"next: flinkplan compile {pipeline} -o {target / 'plan.json'}", err=True)
