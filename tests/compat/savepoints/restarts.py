"""Restarts of Apache Flink from savepoints: what is asked, and what was found."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flinkplan.plan.document import Plan, dumps, plan_from_json
from tests.compat.identities import with_old_ids
from tests.compat.savepoints.runner import net
from tests.compat.truths.model import Files, Truth
from tests.parity.flink import Flink

FOUND = Path(__file__).parent.parent / "truths" / "flink"
MIGRATED = FOUND.with_name("migrated")
FLINK_VERSION = "2.3.0"


@dataclass(frozen=True)
class Found:
    """What Flink did.

    ``verdict`` is ``restored`` (the rows are those of a run that was never stopped), ``misread`` (they are others),
    ``empty`` (they are those of a run without the savepoint), ``refused`` (with ``error``) or ``declined`` (by the
    command that was to migrate it).  ``rows`` are the net
    changes after the restart, ``uninterrupted`` those of the run that was never stopped.
    """

    flink: str
    verdict: str
    error: str | None = None
    rows: dict[str, int] | None = None
    uninterrupted: dict[str, int] | None = None

    @classmethod
    def read(cls, name: str, folder: Path = FOUND) -> Found | None:
        """What was found of a restart, if it was asked for."""
        file = folder / f"{name}.json"
        return cls(**json.loads(file.read_text("utf-8"))) if file.exists() else None

    def write(self, name: str, folder: Path = FOUND) -> None:
        """Keep what was found."""
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", "utf-8")


def plans(truth: Truth) -> tuple[Plan, Plan]:
    """The plans of a restart, the new one with the ids of the old one unless the truth is about ids."""
    old, new = truth.plans
    if truth.own_ids:
        return old, new
    return old, with_old_ids(old, new)


MIGRATE = (sys.executable, "-m", "flinkplan", "migrate", "{savepoint}", "{new}", "--old", "{old}", "-o", "{out}")
"""The command that makes a savepoint for the new plan."""


def ask(truth: Truth, flink: Flink, command: Sequence[str] = ()) -> Found:
    """Ask Flink; with a ``command`` from the savepoint that it makes."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        request = _request(truth, Path(folder).resolve())
        answer = flink.ask({**request, "migrate": list(command)} if command else request)
    if "failed" in answer:
        raise RuntimeError(f"{truth.name}: {answer['failed']}")
    if answer.get("declined"):
        return Found(FLINK_VERSION, "declined", answer["error"])
    if error := answer["error"]:
        return Found(FLINK_VERSION, "refused", error)
    before, after = answer["uninterrupted"]
    rows, expected = net(answer["after"]), net(after)
    if rows == expected:
        return Found(FLINK_VERSION, "restored", None, rows, expected)
    is_empty = rows in (net(answer["alone"]), net([*before, *after]))
    return Found(FLINK_VERSION, "empty" if is_empty else "misread", None, rows, expected)


def _request(truth: Truth, work: Path) -> dict[str, Any]:
    request: dict[str, Any] = {"work": str(work), "data": str(work / "in"), "ignore_unclaimed": False}
    sides = zip(("old", "new"), plans(truth), (truth.old, truth.new), strict=True)
    tables: set[str] = set()
    for side, plan, script in sides:
        text = dumps(_watching(plan, truth.keeps_sinks)).replace("${DIR}", str(work))
        file = work / f"{side}.json"
        file.write_text(text, "utf-8")
        request[side] = {"plan": str(file), "options": dict(re.findall(r"SET '([^']+)' = '([^']*)'", script))}
        tables |= set(re.findall(rf'"{re.escape(str(work))}/in/(\w+)"', text))
    for phase, files in (("before", truth.first), ("after", truth.second)):
        request[phase] = [_rows(table, phase, files, work) for table in sorted(tables)]
    return request


def _rows(table: str, phase: str, files: Files, work: Path) -> tuple[str, str]:
    """The rows of a table in one file, so that they come in order; and the name under which it appears."""
    file = work / f"{phase}-{table}.json"
    rows = [row for name in sorted(files) if name.partition("/")[0] == table for row in files[name]]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(file), f"{table}/{phase}.json"


def _watching(plan: Plan, keeps_sinks: bool) -> Plan:
    """A plan whose file sources go on looking for files, and whose sinks print what comes."""
    document = json.loads(dumps(plan))
    for node in document["nodes"]:
        source, sink = (node.get(end, {}).get("table", {}).get("resolvedTable") for end in _ENDS)
        if source and source["options"]["connector"] == "filesystem":
            source["options"]["source.monitor-interval"] = "1 s"
        if sink and sink["options"]["connector"] in ("filesystem", "blackhole") and not keeps_sinks:
            sink["options"] = {"connector": "print"}
    return plan_from_json(document)


_ENDS = ("scanTableSource", "dynamicTableSink")
