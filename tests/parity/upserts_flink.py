"""What Flink leaves in sinks that take upserts: record it, or compare it with what is recorded.

``python -m tests.parity.upserts_flink PYTHON [--record] [CASE …]``, where PYTHON has apache-flink.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from flinkplan.plan.document import dumps
from tests.parity.flink import Flink
from tests.parity.upserts import RECORDED, Content, UpsertCase, printed, upsert_cases


def flink_contents(case: UpsertCase, flink: Flink, work: Path) -> dict[str, Content]:
    """The content of each sink by its key, after Flink has run the case's plan in the folder ``work``.

    Raises :class:`ValueError` where Flink fails, or its rows cannot be read.
    """
    shutil.copytree(case.case.folder / "data", work / "data", dirs_exist_ok=True)
    plan = json.loads(dumps(case.compile({sink.name: {"connector": "jdbc", **_NOWHERE} for sink in case.sinks})))
    for node in plan["nodes"]:
        table = node.get("dynamicTableSink", {}).get("table", {})
        name = table.get("identifier", "").rpartition("`.`")[2].strip("`")
        if any(sink.name == name for sink in case.sinks):
            table["resolvedTable"]["options"] = {"connector": "print", "print-identifier": f"sink {name}"}
    (work / "plan.json").write_text(json.dumps(plan).replace("${CASE}", str(work)), "utf-8")
    start = flink.place
    if error := flink.execute(work / "plan.json", case.case.session_options):
        raise ValueError(error)
    lines = flink.printed(start)
    found = {}
    for sink in case.sinks:
        prefix = f"sink {sink.name}> "
        rows = (line.removeprefix(prefix) for line in lines if line.startswith(prefix))
        found[sink.name] = sink.content(printed(row, len(sink.types)) for row in rows)
    return found


_NOWHERE = {"url": "jdbc:derby:memory:nowhere", "table-name": "none"}


def main() -> int:
    """Record, or compare; 1 where anything differs."""
    python, *options = sys.argv[1:]
    names = {option for option in options if not option.startswith("-")}
    differing = 0
    with Flink(python) as flink:
        for case in (c for c in upsert_cases() if not names or c.name in names):
            file = RECORDED / f"{case.name}.json"
            with tempfile.TemporaryDirectory() as work:
                try:
                    found = flink_contents(case, flink, Path(work))
                except ValueError as e:
                    print(f"{case.name}: {e}", file=sys.stderr)
                    continue
            if "--record" in options:
                RECORDED.mkdir(exist_ok=True)
                file.write_text(_text(found), "utf-8")
            elif not file.exists() or json.loads(file.read_text("utf-8")) != found:
                print(f"{case.name}: Flink leaves other rows than recorded")
                differing += 1
    return min(differing, 1)


def _text(contents: dict[str, Content]) -> str:
    """A line a row."""
    tables = []
    for name, rows in contents.items():
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
        tables.append(f" {json.dumps(name)}: [\n{lines}\n ]" if rows else f" {json.dumps(name)}: []")
    return "{\n" + ",\n".join(tables) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())
