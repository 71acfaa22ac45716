"""Statements by chance: the same for the same seed, and each of them compiles here or is refused with a reason."""

from __future__ import annotations

from random import Random

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script
from tests.parity.first_try.queries import Queries


def test_equal_seeds_make_equal_scripts() -> None:
    assert Queries(Random(7)).script() == Queries(Random(7)).script()


def test_scripts_compile() -> None:
    refused = 0
    for seed in range(60):
        *before, job = Queries(Random(seed)).script()
        if not job.startswith("EXECUTE"):
            job = f"CREATE TABLE sink WITH ('connector' = 'blackhole') AS {job}"
        try:
            compile_script(";\n".join([*before, job]))
        except FlinkplanError as e:
            assert e.message
            refused += 1
    assert refused < 6


@pytest.mark.parametrize("seed", range(3))
def test_scripts_define_what_they_read(seed: int) -> None:
    script = Queries(Random(seed)).script()
    assert all(not s.endswith(";") for s in script) and any(s.startswith("CREATE TABLE") for s in script)
