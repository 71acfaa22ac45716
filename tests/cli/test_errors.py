"""Errors as users meet them: one clear message, a documented exit code, never a traceback."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from py4j.protocol import Py4JNetworkError

from flinkplan.cli import main
from flinkplan.cli.errors import HungUp, Terminated
from flinkplan.plan.errors import ErrorGroup, FlinkplanError, Location, PlanError, UnsupportedError
from tests.cli.support import ROOT, Outcome, flinkplan
from tests.parity.corpus import HERE

PLAN = str(HERE / "cases/join-two-cdc-tables-with-primary-keys/plan.json")


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> Outcome:
    """The outcome of a command that raises ``error``."""

    def fail(**options: object) -> None:
        raise error

    module = SimpleNamespace(command=click.Command("compile", callback=fail))
    monkeypatch.setattr(main, "import_module", lambda *_: module)
    return flinkplan("compile")


def test_an_error_names_the_place_and_the_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "orders.sql"
    script.write_text("SELECT 1;\nSELEC 2;\n")
    error = FlinkplanError("unknown word", where=Location(str(script), 2, 1, 6), hint="did you mean SELECT?")
    outcome = failing(monkeypatch, error)
    assert outcome.code == 3
    assert outcome.err == (
        f"error: unknown word\n --> {script}:2:1\n  2 | SELEC 2;\n    | ^^^^^\nhint: did you mean SELECT?\n"
    )


def test_several_errors_are_told_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = failing(monkeypatch, ErrorGroup([PlanError("one"), UnsupportedError("two", where="node 3")]))
    assert (outcome.code, outcome.err) == (4, "error: one\n\nerror: two\n --> node 3\n")


def test_a_fault_of_our_own_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = failing(monkeypatch, ZeroDivisionError("division by zero"))
    assert outcome.code == 70
    assert re.match(r"internal error: ZeroDivisionError: division by zero \(flinkplan [\d.]+\)\n", outcome.err)
    assert "Traceback" not in outcome.err
    assert "--debug" in outcome.err


def test_an_end_of_the_jvm_is_not_a_fault_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = failing(monkeypatch, Py4JNetworkError("Answer from Java side is empty"))
    assert outcome.code == 5
    assert outcome.err.startswith("error: the JVM that ran the job has ended\nhint: it was killed, perhaps")


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLINKPLAN_DEBUG", "1")
    assert "Traceback" in failing(monkeypatch, ZeroDivisionError("x")).err


@pytest.mark.parametrize(("interrupt", "code"), [(KeyboardInterrupt(), 130), (Terminated(), 143), (HungUp(), 129)])
def test_an_interrupt_has_its_own_code(monkeypatch: pytest.MonkeyPatch, interrupt: BaseException, code: int) -> None:
    assert failing(monkeypatch, interrupt).code == code


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--version",), 0, ""),
        ((), 2, "Usage"),
        (("valdate",), 2, "Did you mean 'validate'?"),
        (("validate",), 2, "Name a plan or pipeline"),
        (("validate", "missing.json"), 3, "error: no such file\n --> missing.json"),
        (("validate", "."), 3, "error: this directory is not a checkpoint of 'flinkplan execute'\n --> ."),
        (("ttl", PLAN, "--set", "join.leftState=1.5 h"), 3, "hint: write a whole number in a smaller unit"),
        (("ttl", PLAN, "--set", "jon.leftState=1 h"), 3, "did you mean 'join.leftState'?"),
        (("execute", "missing.json"), 3, "no such file"),
        (("execute", PLAN, "--var", "CASE"), 2, "'CASE' is not of the form NAME=VALUE"),
        (("execute", PLAN, "--trigger-interval", "1.5 h"), 2, "smaller unit"),
        (("execute", PLAN, "--mode", "batch"), 2, "batch"),
        (("compile", "missing.sql"), 3, "no such file"),
        (("compile", "missing.sql", "--force", "--if-not-exists"), 2, "exclude each other"),
        (("compile", "x.sql", "-o", "README.md"), 3, "--force replaces it"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_exit_codes(arguments: tuple[str, ...], code: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    outcome = flinkplan(*arguments)
    assert (outcome.code, "Traceback" in outcome.err) == (code, False), outcome.err
    assert words in outcome.err


def test_every_exit_code_is_documented() -> None:
    page = (ROOT / "docs/exit-codes.md").read_text("utf-8")
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert documented == {0, 1, 2, 3, 4, 5, 70, 129, 130, 143}


def test_a_plan_that_is_not_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_bytes(b'{"flinkVersion" : "\xff"}')
    outcome = flinkplan("ttl", str(file))
    assert (outcome.code, outcome.err) == (3, f"error: not UTF-8 text (byte 19)\n --> {file}\nhint: save it as UTF-8\n")


def test_python_runs_the_package_as_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "flinkplan", "valdate"], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, "Did you mean 'validate'?" in done.stderr) == (2, True)


def test_an_interrupt_while_commands_are_imported() -> None:
    code = (
        "import builtins, signal; load = builtins.__import__\n"
        "def interrupted(name, *rest):\n"
        "    if name == 'cli.main': signal.raise_signal(signal.SIGINT)\n"
        "    return load(name, *rest)\n"
        "from flinkplan.__main__ import main; builtins.__import__ = interrupted; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (130, "")
