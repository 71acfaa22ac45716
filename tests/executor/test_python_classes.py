"""Which Python classes of a plan may run, and how they are made."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.python_classes import PythonCode, Reference, check_allowed
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script
from flinkplan.windowing import Evictor, ProcessWindowFunction

MODULE = """\
from flinkplan.datastream import ProcessWindowFunction

class Count(ProcessWindowFunction):
    def __init__(self, factor=1):
        self.factor = factor

    def process(self, key, context, elements):
        yield key, len(elements) * self.factor

class Nothing:
    pass
"""


def plan(folder: Path, name: str = "Count", module: str = "counting") -> Plan:
    (folder / f"{module}.py").write_text(MODULE)
    process = {"class": f"{module}:{name}", "columns": {"person": "STRING", "n": "BIGINT"}}
    spec = {
        "version": 1,
        "tables": {
            "clicks": {"columns": {"person": "STRING"}, "with": {"connector": "datagen"}},
            "report": {"columns": {"person": "STRING", "n": "BIGINT"}, "with": {"connector": "blackhole"}},
        },
        "windows": {
            "w": {"from": "clicks", "key-by": "person", "assign": "global", "trigger": {"count": 2}, "process": process}
        },
        "inserts": [{"into": "report", "query": "SELECT person, n FROM w"}],
    }
    return compile_script(json.dumps(spec), file=str(folder / "pipeline.yaml"))


def test_nothing_of_a_plan_is_imported_unasked(tmp_path: Path) -> None:
    with pytest.raises(FlinkplanError) as refused:
        execute(plan(tmp_path), JobOptions())
    error = refused.value.errors[0]
    assert error.message == "the plan wants to run counting:Count, and nobody has allowed that"
    assert "--python-module counting" in str(error.hint) and "/nodes/" in str(error.where)


@pytest.mark.parametrize("kind", ["file", "folder", "zip", "module", "package"])
def test_what_is_handed_over_is_allowed(tmp_path: Path, kind: str) -> None:
    compiled = plan(tmp_path)
    with zipfile.ZipFile(tmp_path / "counting.zip", "w") as archive:
        archive.writestr("counting.py", MODULE)
    code = {
        "file": PythonCode(files=(str(tmp_path / "counting.py"),)),
        "folder": PythonCode(files=(str(tmp_path),)),
        "zip": PythonCode(files=(str(tmp_path / "counting.zip"),)),
        "module": PythonCode(modules=("counting",)),
        "package": PythonCode(modules=("other", "counting")),
    }[kind]
    check_allowed(compiled, code)
    with pytest.raises(FlinkplanError, match="nobody has allowed"):
        check_allowed(compiled, PythonCode(modules=("count", "counting.inner")))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FlinkplanError, match="there is no such file"):
        check_allowed(plan(tmp_path), PythonCode(files=("nowhere.py",)))


def reference(folder: Path, name: str, module: str = "made_here", **arguments: Any) -> Reference:
    (folder / f"{module}.py").write_text(MODULE)
    return Reference(f"{module}:{name}", arguments, (str(folder),))


def test_classes_are_made_with_their_arguments(tmp_path: Path) -> None:
    made = reference(tmp_path, "Count", factor=3).make(ProcessWindowFunction)
    assert made.factor == 3


@pytest.mark.parametrize(
    ("name", "arguments", "interface", "message"),
    [
        ("Nothing", {}, ProcessWindowFunction, "made_here:Nothing is no ProcessWindowFunction"),
        ("Count", {}, Evictor, "made_here:Count is no Evictor"),
        ("Absent", {}, Evictor, "cannot import made_here:Absent: AttributeError"),
        ("Count", {"size": 1}, ProcessWindowFunction, "cannot make made_here:Count: TypeError"),
    ],
)
def test_classes_that_are_none(
    tmp_path: Path, name: str, arguments: dict[str, Any], interface: type, message: str
) -> None:
    with pytest.raises(FlinkplanError, match=message):
        reference(tmp_path, name, **arguments).make(interface)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("counting:Cuont", "there is no class 'Cuont' in the Python module 'counting'"),
        ("absent_module:Count", "there is no Python module 'absent_module'"),
        ("os.path.nothing:Count", "there is no Python module 'os.path.nothing'"),
        ("counting", "'counting' names no class"),
        ("__import__('os'):x", "names no class"),
    ],
)
def test_compiling_finds_classes_that_are_not_there(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "counting.py").write_text(MODULE + "raise SystemExit('compiling runs nothing')\n")
    spec = {
        "version": 1,
        "tables": {
            "clicks": {"columns": {"person": "STRING"}, "with": {"connector": "datagen"}},
            "report": {"columns": {"n": "BIGINT"}, "with": {"connector": "blackhole"}},
        },
        "windows": {
            "w": {
                "from": "clicks", "assign": "global", "trigger": {"count": 2},
                "process": {"class": name, "columns": {"n": "BIGINT"}},
            }
        },
        "inserts": [{"into": "report", "query": "SELECT n FROM w"}],
    }  # fmt: skip
    with pytest.raises(FlinkplanError) as refused:
        compile_script(json.dumps(spec), file=str(tmp_path / "pipeline.yaml"))
    assert message in refused.value.errors[0].message
