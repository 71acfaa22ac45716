"""Print what a plan wrote: one table per sink, a Debezium changelog as the rows it leaves."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

Cells = dict[str, object]


def lines(folder: Path) -> Iterator[str]:
    """The lines of a sink's finished files; hidden names and those with `_` are temporary or metadata."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith((".", "_")) for part in parts):
            yield from path.read_text(encoding="utf-8").splitlines()


def parse(line: str) -> Cells:
    """A line of JSON, else of CSV, whose columns have numbers for names."""
    if line.startswith("{"):
        cells: Cells = json.loads(line)
        return cells
    return {str(at): value for at, value in enumerate(next(csv.reader([line])), start=1)}


def remaining(changes: Iterable[Cells]) -> list[Cells]:
    """The rows that a changelog leaves."""
    counts: Counter[str] = Counter()
    for change in changes:
        for image, step in ((change["before"], -1), (change["after"], 1)):
            if image is not None:
                counts[json.dumps(image)] += step
    return [json.loads(row) for row, count in counts.items() for _ in range(count)]


def order(row: Cells) -> list[tuple[bool, bool, object]]:
    """A sort key over all columns, nulls first, for numbers and for anything else as text."""
    return [
        (cell is not None, not isinstance(cell, int | float), cell if isinstance(cell, int | float) else str(cell))
        for cell in row.values()
    ]


def table(rows: list[Cells]) -> Table:
    shown = Table()
    for column in rows[0]:
        numeric = isinstance(next((r[column] for r in rows if r.get(column) is not None), None), int | float)
        shown.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        shown.add_row(*("" if cell is None else str(cell) for cell in row.values()))
    return shown


@click.command(help=__doc__)
@click.argument("output", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--limit", default=20, show_default=True, help="Rows to print of each sink.")
def main(output: Path, limit: int) -> None:
    console = Console()
    for sink in sorted(path for path in output.iterdir() if path.is_dir()):
        rows = [parse(line) for line in lines(sink)]
        title = f"[bold]{sink.name}[/]: "
        if rows and all(row.keys() == {"before", "after", "op"} for row in rows):
            title += f"{len(rows):,} changes leave "
            rows = remaining(rows)
        title += f"{len(rows):,} rows"
        if len(rows) > limit:
            title += f", of which the first {limit}"
        console.print(title, highlight=False)
        if rows:
            console.print(table(sorted(rows, key=order)[:limit]))


if __name__ == "__main__":
    main()
