"""What the last parity run found, kept in a file between the tests and the scoreboard."""

from __future__ import annotations

import json
from pathlib import Path

from flinkplan.plan.output import write_text
from tests.parity.corpus import LEVELS

FILE = Path(__file__).parents[2] / "out" / "parity.json"

Results = dict[str, dict[str, str]]
"""Level → case → what is wrong there; empty where nothing is."""


def load_results() -> Results:
    """The kept results; empty before the first run."""
    return json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


class Recorder:
    """Collects results and adds them to the kept ones, so that a run of one family keeps the others'."""

    def __init__(self) -> None:
        self._found: Results = {level: {} for level in LEVELS}

    def record(self, level: str, case: str, wrong: str) -> str:
        """Keep one result; returns what is wrong."""
        self._found[level][case] = wrong
        return wrong

    def save(self) -> None:
        """Write the results."""
        kept = load_results()
        for level, cases in self._found.items():
            kept[level] = kept.get(level, {}) | cases
        write_text(FILE, json.dumps(kept, indent=1, sort_keys=True))  # as a whole: others read it meanwhile
