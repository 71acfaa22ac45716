"""Makes state under one plan, restarts under another, and looks at what comes out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from flinkplan.executor.context import Mode
from flinkplan.executor.job import JobOptions, execute
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import Join
from flinkplan.planner import compile_script
from tests.compat.truths import TRUTHS, Files, Truth

pytestmark = pytest.mark.spark


def put(folder: Path, files: Files) -> None:
    """Write the rows of tables as files that appear whole."""
    for name, rows in files.items():
        file = folder / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def plan_of(script: str, ttl: str | None) -> Plan:
    """The plan of a script, its left states with a TTL."""
    plan = compile_script(script)
    if ttl is None:
        return plan
    return replace(plan, nodes=tuple(_with_ttl(n, ttl) if isinstance(n, Join) else n for n in plan.nodes))


def _with_ttl(node: Join, ttl: str) -> Join:
    left, right = node.states
    return replace(node, state=(replace(left, ttl=ttl), right))


def run(plan: Plan, folder: Path) -> None:
    """Run what is there and stop."""
    variables = {"DIR": str(folder)}
    execute(plan, JobOptions(str(folder / "checkpoint"), variables=variables, mode=Mode.AVAILABLE_NOW)).wait()


def changes(folder: Path) -> dict[Path, list[tuple[Any, ...]]]:
    """What was written, by file: ``c`` or ``d``, then the row."""
    files = (p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    return {file: [_change(json.loads(line)) for line in file.read_text().splitlines()] for file in files}


def _change(change: dict[str, Any]) -> tuple[Any, ...]:
    row = change["after"] if change["op"] == "c" else change["before"]
    return (change["op"], *row.values())


def rows(written: Iterable[list[tuple[Any, ...]]]) -> Counter[tuple[Any, ...]]:
    """The rows that changes leave."""
    found: Counter[tuple[Any, ...]] = Counter()
    for op, *row in chain.from_iterable(written):
        found[tuple(row)] += 1 if op == "c" else -1
    return +found


def restart(truth: Truth, folder: Path) -> list[tuple[Any, ...]]:
    """Run the old plan, then the new one; returns what the new one wrote."""
    put(folder, truth.first)
    run(plan_of(truth.old, truth.ttls[0]), folder)
    before = changes(folder / "out")
    put(folder, truth.second)
    run(plan_of(truth.new, truth.ttls[1]), folder)
    return list(chain.from_iterable(lines for file, lines in changes(folder / "out").items() if file not in before))


def never_stopped(truth: Truth, folder: Path) -> Counter[tuple[Any, ...]]:
    """The rows of a run of the new plan over everything."""
    put(folder, truth.first)
    put(folder, truth.second)
    run(plan_of(truth.new, truth.ttls[1]), folder)
    return rows(changes(folder / "out").values())


@pytest.mark.parametrize("truth", [t for t in TRUTHS if t.refused is None], ids=lambda truth: truth.name)
def test_spark_goes_on(truth: Truth, tmp_path: Path) -> None:
    written = restart(truth, tmp_path)
    assert sorted(written, key=str) == sorted(truth.expected, key=str)
    if truth.seamless:
        kept = rows([written])
        assert kept == never_stopped(truth, tmp_path / "again")


@pytest.mark.parametrize("truth", [t for t in TRUTHS if t.refused is not None], ids=lambda truth: truth.name)
def test_spark_refuses(truth: Truth, tmp_path: Path) -> None:
    with pytest.raises(FlinkplanError) as refused:
        restart(truth, tmp_path)
    assert truth.refused is not None
    assert truth.refused in str(refused.value)
