"""Runs a corpus of Python programs: ``python -m tests.parity.programs [--plans] CASES_FOLDER OUT_FOLDER [NAME…]``.

A case is a folder with ``functions.py`` and ``pipeline.sql``, or with ``program.py`` whose ``pipeline(t_env)`` gives a
``TablePipeline`` or a ``StatementSet``; both are what PyFlink takes.  Written to ``OUT_FOLDER/NAME``: ``plan.json``,
``explain.txt`` and what each sink has got in ``rows/SINK``, or ``error.json`` with the stage (build, compile, run) and
the words.  ``--plans`` executes nothing.  Where the cases say what PyFlink did, a table shows how many agree, by kind.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flinkplan.plan.errors import FlinkplanError
from flinkplan.table import EnvironmentSettings, TableEnvironment
from flinkplan.udf.as_pyflink import install

from .compare import compare_plans, compare_sinks
from .corpus import SESSION_OPTIONS

HELD = ("expected", "plan.json", "oracle.json", "explain.txt", "out")


def run(case: Path, out: Path, *, executes: bool = True) -> dict[str, Any]:
    """Compile, explain and execute one case; what happened."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="program-") as name:
        work = Path(name)
        shutil.copytree(case, work, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*HELD, "__pycache__"))
        with _importing(work):
            result = _run(work, executes=executes)
        if (work / "out").exists():
            shutil.copytree(work / "out", out / "rows")
    for file in ("plan.json", "explain.txt"):
        if file in result:
            (out / file).write_text(result.pop(file).replace(name, "${CASE}"), "utf-8")
    if "stage" in result:
        result["words"] = result["words"].replace(name, "${CASE}")
        (out / "error.json").write_text(json.dumps(result, indent=1), "utf-8")
    return result


@contextmanager
def _importing(work: Path) -> Iterator[None]:
    before = list(sys.path)
    sys.path.insert(0, str(work))
    try:
        yield
    finally:
        sys.path[:] = before
        for module in [m for m in sys.modules if m.partition(".")[0] in ("functions", "program")]:
            del sys.modules[module]
        importlib.invalidate_caches()


def _run(work: Path, *, executes: bool) -> dict[str, Any]:
    result: dict[str, Any] = {}
    environment = TableEnvironment(EnvironmentSettings(dict(SESSION_OPTIONS)), warn=lambda finding: None)
    try:
        pipeline = _build(environment, work)
    except Exception as error:
        return _failure(error, "build")
    try:
        result["plan.json"] = pipeline.compile_plan().as_json_string()
    except Exception as error:
        result |= _failure(error, "compile")
    try:
        result["explain.txt"] = pipeline.explain()
    except Exception as error:
        if "stage" not in result:
            result |= _failure(error, "explain")
    if executes and "explain.txt" in result:
        try:
            pipeline.execute().wait()
        except Exception as error:
            result |= _failure(error, "run")
    return result


def _build(environment: TableEnvironment, work: Path) -> Any:
    script = work / "pipeline.sql"
    if not script.exists():
        spec = importlib.util.spec_from_file_location("program", work / "program.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["program"] = module
        spec.loader.exec_module(module)
        return module.pipeline(environment)
    from flinkplan.planner.sql import parse_script

    if (work / "functions.py").exists():
        environment.get_config().set("python.files", str(work / "functions.py"))
    *definitions, job = parse_script(script.read_text("utf-8").replace("${CASE}", str(work))).statements
    for statement in definitions:
        environment.execute_statement(statement)
    return environment.pipeline_of(job)


def _failure(error: Exception, stage: str) -> dict[str, Any]:
    words = "; ".join(str(e) for e in error.errors) if isinstance(error, FlinkplanError) else str(error)
    kind = type(error).__name__
    return {"stage": stage, "kind": kind, "is_ours": isinstance(error, FlinkplanError), "words": words}


def judge(case: Path, out: Path, result: dict[str, Any], *, executes: bool = True) -> dict[str, str]:
    """What agrees with PyFlink: the plan, the explanation, the rows, or the refusal."""
    oracle = json.loads((case / "oracle.json").read_text("utf-8"))
    verdicts: dict[str, str] = {}
    if oracle["verdict"] == "refused":
        verdicts["refused"] = "right" if "stage" in result else "compiles"
        return verdicts
    if (case / "plan.json").exists():
        theirs = case / "plan.json"
        if (out / "plan.json").exists():
            comparison = compare_plans(theirs.read_text("utf-8"), (out / "plan.json").read_text("utf-8"))
            verdicts["plan"] = "right" if comparison.content else comparison.why
        else:
            verdicts["plan"] = f"{result.get('kind')}: {result.get('words')}"
    elif oracle.get("plan_error") or oracle["verdict"] == "fails":
        verdicts["no plan"] = "right" if not (out / "plan.json").exists() else "has a plan"
    if (case / "explain.txt").exists():
        if (out / "explain.txt").exists():
            same = _explained(case / "explain.txt") == _explained(out / "explain.txt")
            verdicts["explain"] = "right" if same else "differs"
        else:
            verdicts["explain"] = "none"
    if executes and oracle["verdict"] == "runs":
        keys = {sink: (known or {}).get("key") for sink, known in oracle["sinks"].items()}
        differences = compare_sinks(keys, case / "expected", out / "rows")
        if result.get("stage") == "run":
            verdicts["rows"] = f"{result['kind']}: {result['words']}"
        else:
            verdicts["rows"] = "; ".join(differences[:3]) or "right"
    elif executes and oracle["verdict"] == "fails":
        verdicts["fails"] = "right" if "stage" in result else "runs"
    return verdicts


def _explained(file: Path) -> str:
    text = re.sub(r"\$[0-9a-f]{32}\*", "$${HASH}*", file.read_text("utf-8"))
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def main(cases: Path, out: Path, names: list[str], *, executes: bool = True) -> None:
    """Run all cases, or those of the names, and print how they compare."""
    install(replace=True)
    counts: dict[tuple[str, str], Counter[str]] = {}
    for case in sorted(p for p in cases.iterdir() if p.is_dir()):
        if names and case.name not in names:
            continue
        result = run(case, out / case.name, executes=executes)
        if not (case / "oracle.json").exists():
            continue
        family, kind = case.name.split("-")[:2]
        for what, verdict in judge(case, out / case.name, result, executes=executes).items():
            count = counts.setdefault((what, f"{family}-{kind}"), Counter())
            count["right" if verdict == "right" else "wrong"] += 1
            if verdict != "right" and (what != "explain" or names):
                print(f"{case.name:45} {what}: {verdict[:230]}")
    for what in dict.fromkeys(what for what, _ in counts):
        total = sum((count for (w, _), count in counts.items() if w == what), Counter())
        print(f"\n{what}: {total['right']} of {total.total()}")
        rows = [(kind, c) for (w, kind), c in sorted(counts.items()) if w == what]
        print("  " + ", ".join(f"{kind} {c['right']}/{c.total()}" for kind, c in rows))
    gc.collect()


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--plans"]
    main(Path(given[0]), Path(given[1]), given[2:], executes="--plans" not in sys.argv)
