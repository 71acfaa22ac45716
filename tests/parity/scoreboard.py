"""Prints how far the last parity run got, by family: ``python -m tests.parity.scoreboard [--why]``."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from tests.parity.corpus import LEVELS, Case, cases
from tests.parity.results import Results, load_results


def scoreboard(results: Results) -> Table:
    """A table with one row a family: cases that reached each level, of those measured at it."""
    table = Table(title="Parity with Flink 2.3", title_justify="left")
    table.add_column("family")
    for level in LEVELS:
        table.add_column(level, justify="right")
    families: dict[str, list[Case]] = {}
    for case in cases():
        families.setdefault(case.family, []).append(case)
    for family, members in families.items():
        table.add_row(family, *(_count(results, level, members) for level in LEVELS))
    table.add_section()
    table.add_row("all", *(_count(results, level, list(cases())) for level in LEVELS), style="bold")
    return table


def _count(results: Results, level: str, members: list[Case]) -> str:
    measured = [c for c in members if level in c.levels()]
    found = results.get(level, {})
    reached = sum(not found[c.name] for c in measured if c.name in found)
    return f"{reached}/{len(measured)}" if any(c.name in found for c in measured) else f"-/{len(measured)}"


def main(why: bool) -> None:
    """Print the table; with ``why``, also what is wrong with each case that falls short."""
    console, results = Console(highlight=False), load_results()
    console.print(scoreboard(results))
    if why:
        for level in LEVELS:
            for name, wrong in sorted(results.get(level, {}).items()):
                if wrong:
                    console.print(f"{level:8} {name}: {wrong}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main("--why" in sys.argv[1:])
