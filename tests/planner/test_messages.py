"""What people are told about wrong scripts, word for word.

Each file of the folder ``mistakes`` is a script, over the tables of ``TABLES``; ``golden/mistakes.txt`` holds all of
them with their errors, to be read as a whole.  ``pytest --update-golden`` rewrites it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script
from tests.conftest import Golden

MISTAKES = sorted((Path(__file__).parent / "mistakes").glob("*.sql"))

TABLES = (
    "CREATE TABLE orders (id INT, customer STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3), "
    "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) "
    "WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json'); "
    "CREATE TABLE archive (id INT, customer STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3)) "
    "WITH ('connector' = 'filesystem', 'path' = 'archive', 'format' = 'json'); "
    "CREATE TABLE rates (currency STRING, rate DECIMAL(10, 2)) WITH ('connector' = 'datagen'); "
    "CREATE TABLE totals (customer STRING, total DECIMAL(38, 2)) "
    "WITH ('connector' = 'filesystem', 'path' = 'totals', 'format' = 'json'); "
    "CREATE TABLE journal (id INT, customer STRING, total DECIMAL(38, 2), PRIMARY KEY (id) NOT ENFORCED) "
    "WITH ('connector' = 'blackhole'); "
    "CREATE VIEW counts AS SELECT customer, COUNT(*) AS n, MAX(ts) AS ts FROM orders GROUP BY customer;\n"
)
"""One line, so that a script's own lines count from 2."""


def told(script: str) -> str:
    """The errors of a script."""
    with pytest.raises(FlinkplanError) as caught:
        compile_script(TABLES + script, file="p.sql")
    assert all(error.where for error in caught.value.errors)
    return "\n\n".join(map(str, caught.value.errors))


def test_messages(golden: Golden) -> None:
    parts = []
    for mistake in MISTAKES:
        script = mistake.read_text("utf-8")
        parts.append(f"=== {mistake.stem.replace('-', ' ')}\n{script.strip()}\n\n{told(script)}\n")
    golden.check("mistakes.txt", "\n".join(parts))


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 60
