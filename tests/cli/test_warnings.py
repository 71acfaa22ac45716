"""How warnings of compiling reach the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import flinkplan

SCRIPT = """SET 'table.exec.state.tll' = '1 h';
CREATE TABLE a (s STRING, n INT) WITH ('connector' = 'datagen');
CREATE TABLE o (s STRING) WITH ('connector' = 'print');
INSERT INTO o SELECT s FROM a WHERE s = 5;
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "p.sql").write_text(SCRIPT)
    return str(tmp_path / "p.sql")


def test_a_warning_names_rule_place_and_fix(script: str) -> None:
    outcome = flinkplan("compile", script)
    assert outcome.code == 0
    assert outcome.out.startswith("{")
    assert outcome.err.startswith(
        "warning[setting-unknown]: there is no option 'table.exec.state.tll'\n"
        f" --> {script}:1:1\n"
        "  1 | SET 'table.exec.state.tll' = '1 h';\n"
        "    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "hint: did you mean 'table.exec.state.ttl'?\n"
        "warning[comparison-types]: "
    )


def test_warnings_can_be_left_out_or_fail(script: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert flinkplan("compile", script, "-o", str(plan), "--strict").code == 1
    assert not plan.exists()
    ignored = flinkplan("compile", script, "-o", str(plan), "--strict", "--ignore", "setting-*", "--ignore", "comp*")
    assert (ignored.code, ignored.err, plan.exists()) == (0, "", True)


def test_every_rule_can_be_looked_up() -> None:
    assert "flinkplan.changelog" in flinkplan("rule", "changelog-assumed").out
    assert "window-half" in flinkplan("rule").out


def test_ttl_says_what_a_bare_number_means(script: str, tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(SCRIPT.replace("SELECT s FROM a WHERE s = 5", "SELECT s FROM a GROUP BY s"))
    plan = tmp_path / "plan.json"
    assert flinkplan("compile", script, "-o", str(plan)).code == 0
    outcome = flinkplan("ttl", str(plan), "--set", "groupAggregateState=3600")
    assert "warning[ttl-without-unit]: the TTL of groupAggregateState is 3600 without a unit" in outcome.err
    assert flinkplan("ttl", str(plan)).err == ""
