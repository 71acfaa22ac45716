"""The samples' data is what its script writes."""

import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "sample_plans"


@pytest.mark.programs
def test_regenerates_byte_for_byte(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SAMPLES / "make_data.py", "--out", tmp_path], check=True)
    shipped = {path.name: path.read_bytes() for path in (SAMPLES / "data").iterdir() if path.suffix != ".md"}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == shipped


def test_flights_are_in_event_time_order() -> None:
    lines = (SAMPLES / "data" / "flights.csv").read_text(encoding="utf-8").splitlines()
    times = [line.split(",", 1)[0] for line in lines]
    assert times == sorted(times)
