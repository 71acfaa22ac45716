"""Queries made by chance over changing tables leave in a database what SQLite computes of the tables in the end.

``FLINKPLAN_UPSERT_SEEDS`` is the number of seeds, ``FLINKPLAN_UPSERT_MODES`` the modes, of which real-time mode has a
session of its own and is asked for alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.jvm.session import PARTITIONS, REAL_TIME_CONF, session
from flinkplan.executor.prepare.modes import Mode

from .fuzz import Example, Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SEEDS = int(os.environ.get("FLINKPLAN_UPSERT_SEEDS", "0"))
MODES = os.environ.get("FLINKPLAN_UPSERT_MODES", "bounded,available-now").split(",")
SLOTS = 64
QUERIES = 6
"""How many queries a seed has in a bounded job; in micro-batches and in real-time mode each costs more."""
FEW = 2
CHOSEN = (103,)
"""The seeds that are run where no number is asked for."""


@pytest.fixture(scope="module")
def session_of_modes(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    if Mode.REAL_TIME.value in MODES:
        spark = session(f"local[{SLOTS}]", {**REAL_TIME_CONF, PARTITIONS: "1"})
        yield spark
        spark.stop()
    else:
        yield request.getfixturevalue("spark")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(SEEDS) if SEEDS else CHOSEN)
def test_a_database_holds_what_sqlite_computes(
    seed: int, mode: str, session_of_modes: SparkSession, tmp_path: Path
) -> None:
    example = Example.of(seed, QUERIES if mode == Mode.BOUNDED.value else FEW)
    with closing(Run(example, session_of_modes, tmp_path)) as run:
        how = {Mode.BOUNDED: run.bounded, Mode.AVAILABLE_NOW: run.available_now, Mode.REAL_TIME: run.real_time}
        wrong = how[Mode(mode)]()
    assert [example.queries[i].sql for i in wrong] == []


@pytest.mark.nightly("the same queries run over whole changes, and it takes half a minute")
@pytest.mark.skipif([Mode.REAL_TIME.value] == MODES, reason="real-time mode has a session of its own")
@pytest.mark.parametrize("seed", range(SEEDS) if SEEDS else CHOSEN)
def test_and_so_it_does_of_upserts_without_the_rows_before(
    seed: int, session_of_modes: SparkSession, tmp_path: Path
) -> None:
    from tests.executor.kafka.brokers import BrokerInside

    example = Example.of(seed, FEW)
    with closing(Run(example, session_of_modes, tmp_path, BrokerInside())) as run:
        assert [example.queries[i].sql for i in run.available_now()] == []
