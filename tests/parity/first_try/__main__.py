"""Compile statements by chance here and on Flink, and print how many plans are the same.

``python -m tests.parity.first_try PYTHON [--statements N] [--seed SEED]``, where PYTHON has apache-flink.  Scripts that
are judged differently, and both plans, go to ``out/first-try``.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from pathlib import Path
from random import Random

from flinkplan.plan.document import dumps
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script
from tests.parity.compare import compare_plans
from tests.parity.first_try.queries import Queries
from tests.parity.flink import Flink

RUNNER = Path(__file__).with_name("runner.py")
OUT = Path("out/first-try")
SAME = ("text", "both refuse")
"""The verdicts that need no look."""


def judge(flink_plan: str, flink_error: str, script: str, out: Path) -> tuple[str, str]:
    """The verdict on one script, and why: how far the plans agree, or who refuses it."""
    try:
        ours, error = dumps(compile_script(script, options={"table.local-time-zone": "UTC"})), ""
    except FlinkplanError as e:
        ours, error = "", str(e)
    if flink_error or error:
        if flink_error and error:
            return "both refuse", ""
        return ("accepted", flink_error) if flink_error else ("refused", error)
    compared = compare_plans(flink_plan, ours)
    if not compared.text:
        out.with_suffix(".flink.json").write_text(flink_plan, "utf-8")
        out.with_suffix(".ours.json").write_text(ours, "utf-8")
    level = "text" if compared.text else "content" if compared.content else "shape" if compared.shape else "differs"
    return level, compared.why


def main() -> int:
    """Judge; 1 where any plan or refusal differs from Flink's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("--statements", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    verdicts: Counter[str] = Counter()
    with Flink(options.python, RUNNER) as flink:
        for number in range(options.statements):
            seed = options.seed * 1_000_000 + number
            answer = flink.ask({"script": Queries(Random(seed)).script()})
            script = ";\n".join(answer["script"]) + ";\n"
            out = OUT / f"{seed}.sql"
            verdict, why = judge(answer["plan"], answer["error"], script, out)
            verdicts[verdict] += 1
            if verdict not in SAME:
                out.write_text(script, "utf-8")
                print(f"{out}: {verdict}: {why}")
    planned = options.statements - verdicts["both refuse"]
    same = verdicts["text"] + verdicts["content"]
    print(f"{same} of {planned} plans ({same / max(planned, 1):.1%}) are Flink's: {dict(verdicts)}")
    return int(same < planned)


if __name__ == "__main__":
    sys.exit(main())
