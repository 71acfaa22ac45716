"""The parity corpus: pipelines with the plans that Flink compiled and the rows that Flink wrote.

A case is a folder of ``cases/``, or of ``own/``, which holds further ones that were wrong once or show what no other
does: ``pipeline.sql``, ``data/``, ``oracle.json`` (how Flink fared), and, where Flink got that far, ``plan.json`` and
``expected/<sink>.jsonl``.  ``${CASE}`` stands for the folder.
"""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from flinkplan.planner.sql import ast, parse_script

HERE = Path(__file__).parent
LEVELS = ("loaded", "shape", "content", "text", "rows")
STREAMS = os.environ.get("FLINKPLAN_PARITY") == "stream"
"""Whether plans are run in micro-batches, though their input ends."""
PARTITIONED = os.environ.get("FLINKPLAN_PARITY") == "partitions"
"""Whether rows are brought together in several partitions, as those of large inputs are."""
REAL_TIME = os.environ.get("FLINKPLAN_PARITY") == "real-time"
"""Whether plans are run row by row, as far as they can be."""
BATCHES = os.environ.get("FLINKPLAN_PARITY") == "batches"
"""Whether all plans in event time are run in batches of any rows, not some of them."""

SESSION_OPTIONS = {"table.local-time-zone": "UTC", "parallelism.default": "1"}
"""What the session had set when Flink compiled and ran the cases."""


@dataclass(frozen=True)
class Case:
    """One case of the corpus."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def family(self) -> str:
        return self.name.partition("-")[0]

    @cached_property
    def pipeline(self) -> str:
        return (self.folder / "pipeline.sql").read_text("utf-8")

    @property
    def plan_file(self) -> Path:
        return self.folder / "plan.json"

    @cached_property
    def oracle(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "oracle.json").read_text("utf-8"))
        return found

    @property
    def compiles(self) -> bool:
        """Whether Flink compiles it."""
        return self.plan_file.exists()

    @property
    def runs(self) -> bool:
        """Whether Flink runs its plan to the end."""
        return "error" not in self.oracle

    @property
    def session_options(self) -> dict[str, str]:
        """What the case's session has set; not all of it is part of a plan."""
        options = dict(SESSION_OPTIONS)
        for statement in parse_script(self.pipeline).statements:
            if isinstance(statement, ast.SetOption) and statement.key is not None and statement.value is not None:
                options[statement.key] = statement.value
        return options

    @property
    def expected(self) -> Path:
        """The folder of the rows to expect: Flink's, unless Flink is wrong there."""
        right = HERE / "flink_bugs" / self.name
        return right if right.exists() else self.folder / "expected"

    def levels(self) -> tuple[str, ...]:
        """The levels at which the case is measured; where Flink refuses the script, refusing it is ``shape``."""
        return LEVELS if self.compiles else ("shape",)


@cache
def cases() -> tuple[Case, ...]:
    """All cases, by name."""
    found = [p.parent for folder in ("cases", "own") for p in (HERE / folder).glob("*/pipeline.sql")]
    return tuple(Case(folder) for folder in sorted(found, key=lambda folder: folder.name))


@cache
def pending() -> dict[str, dict[str, str]]:
    """Level → case → why the case does not reach that level yet."""
    return tomllib.loads((HERE / "pending.toml").read_text("utf-8"))


def reason_pending(case: Case, level: str) -> str | None:
    """Why ``case`` is known not to reach ``level``: each level of a plan takes the ones before it."""
    below = ("shape", "content", "text")
    needed = below[: below.index(level) + 1] if level in below else (level,)
    return next((why for n in needed if (why := pending().get(n, {}).get(case.name))), None)
