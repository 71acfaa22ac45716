"""What compiles, but is perhaps not as meant: each thing is told once, at its place, by a rule with an id."""

from __future__ import annotations

import json

import pytest

from flinkplan.advice import RULES, setting_findings
from flinkplan.plan.changelog import row_kinds
from flinkplan.plan.document import Plan, dumps, loads
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.findings import Finding
from flinkplan.plan.row_kinds import NOTHING, kinds_text
from flinkplan.planner import compile_script

TABLES = """CREATE TABLE a (s STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE o (s STRING, n BIGINT) WITH ('connector' = 'print');
"""
WINDOWS = "SELECT 'x', COUNT(*) FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"


def warned(script: str) -> list[Finding]:
    findings: list[Finding] = []
    compile_script(script, file="p.sql", warn=findings.append)
    assert all(finding.rule in RULES for finding in findings)
    return findings


def rules(script: str) -> list[tuple[str, str]]:
    return [(finding.rule, str(finding.location)) for finding in warned(script)]


def test_nothing_is_said_of_what_is_right() -> None:
    assert rules(f"SET 'table.exec.state.ttl' = '1 h';\n{TABLES}INSERT INTO o SELECT s, n FROM a WHERE s = '5';") == []


@pytest.mark.parametrize(
    ("setting", "rule", "words"),
    [
        ("'table.exec.state.tll' = '1 h'", "setting-unknown", "did you mean 'table.exec.state.ttl'?"),
        ("'table.exec.source.idle-timeout' = '1 min'", "setting-no-effect", "--set table.exec.source.idle"),
        ("'table.exec.legacy-cast-behaviour' = 'ENABLED'", "setting-no-effect", "--set table.exec.legacy-cast"),
        ("'table.exec.state.ttl' = '3600'", "ttl-without-unit", "3.6 s"),
    ],
)
def test_settings(setting: str, rule: str, words: str) -> None:
    (finding,) = warned(f"SET {setting};\n{TABLES}INSERT INTO o SELECT s, n FROM a;")
    assert (finding.rule, str(finding.location)) == (rule, "p.sql:1:1")
    assert words in f"{finding.message} {finding.hint}"


@pytest.mark.parametrize("key", ["state.backend", "parallelism.default", "table.exec.async-state.enabled"])
def test_options_of_flinks_runtime_are_a_warning_only_where_a_job_is_executed(key: str) -> None:
    assert warned(f"SET '{key}' = 'true';\n{TABLES}INSERT INTO o SELECT s, n FROM a;") == []
    (finding,) = setting_findings(key, "true", executes=True)
    assert finding.message.startswith(f"'{key}' has no effect here: ")


def test_options_of_the_command_line_have_no_place() -> None:
    findings: list[Finding] = []
    script = f"{TABLES}INSERT INTO o SELECT s, n FROM a;"
    compile_script(script, options={"table.exec.state.tll": "1 h"}, warn=findings.append)
    assert [(finding.rule, finding.location) for finding in findings] == [("setting-unknown", None)]


@pytest.mark.parametrize(
    ("condition", "words"),
    [("s = 5", "refuses to run it"), ("s <> n", "refuses to run it"), ("s > 5", "fails the job")],
)
def test_texts_compared_with_numbers(condition: str, words: str) -> None:
    (finding,) = warned(f"{TABLES}INSERT INTO o SELECT s, n FROM a WHERE {condition};")
    assert (finding.rule, str(finding.location)) == ("comparison-types", "p.sql:3:40")
    assert finding.message.startswith("STRING is compared with INT")
    assert words in finding.message


@pytest.mark.parametrize(
    ("group", "told"),
    [
        ("window_start", ["window_start without window_end"]),
        ("s, window_end", ["window_end without window_start"]),
        ("window_start, window_end", []),
        ("n", []),
    ],
)
@pytest.mark.parametrize("settings", ["", "SET 'table.exec.mini-batch.enabled' = 'true';"])
def test_half_of_a_window(group: str, told: list[str], settings: str) -> None:
    settings += "SET 'table.exec.mini-batch.allow-latency' = '1 s';"
    findings = warned(f"{settings}{TABLES}INSERT INTO o {WINDOWS} GROUP BY {group};")
    assert [f.rule for f in findings] == ["window-half"] * len(told)
    assert all(words in f.message for words, f in zip(told, findings, strict=True))


def test_ttls() -> None:
    join = "SELECT /*+ STATE_TTL('x' = '{}', 'y' = '{}') */ x.s, y.c FROM a x JOIN ({}) y ON x.s = y.s"
    counted = "SELECT s, COUNT(*) AS c FROM a GROUP BY s"
    script = f"{TABLES}INSERT INTO o {join.format('1 h', '3600', counted)};"
    assert [rule for rule, _ in rules(script)] == ["ttl-without-unit", "ttl-downstream"]
    assert (
        rules(f"SET 'table.exec.state.ttl' = '1 h';{TABLES}INSERT INTO o {join.format('1 h', '2 h', counted)};") == []
    )


def test_variables_that_do_not_end() -> None:
    table = "CREATE TABLE f (s STRING) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{}');\n"
    insert = "INSERT INTO f SELECT s FROM a;"
    assert rules(f"{TABLES}{table.format('${OUT')}{insert}") == [("variable-unclosed", "p.sql:3:80")]
    assert rules(f"{TABLES}{table.format('${OUT}/x-${DAY}')}{insert}") == []


def source(connector: str, more: str = "", key: str = " PRIMARY KEY NOT ENFORCED") -> str:
    return (
        f"CREATE TABLE c (s STRING{key}, n BIGINT) WITH ('connector' = '{connector}'{more});\n"
        f"{TABLES}INSERT INTO o SELECT s, n FROM c;"
    )


def kinds(script: str) -> list[str]:
    plan = compile_script(script)
    return [
        f"{node.type.split('-', 2)[2]} {kinds_text(row_kinds(plan)[node.id] or NOTHING) or 'NONE'}"
        for node in plan.nodes
    ]


NORMALIZED = [
    "table-source-scan_2 I,UA,D",
    "exchange_1 I,UA,D",
    "changelog-normalize_1 I,UB,UA,D",
    "sink_2 NONE",
]


UPSERT_KAFKA = ", 'topic' = 't', 'properties.bootstrap.servers' = 'h', 'key.format' = 'json', 'value.format' = 'json'"


@pytest.mark.parametrize(
    ("connector", "more"), [("upsert-kafka", UPSERT_KAFKA), ("mongodb-cdc", ""), ("tidb-cdc", ""), ("paimon", "")]
)
def test_upserts_are_normalized_and_nothing_is_dropped_before(connector: str, more: str) -> None:
    """As Flink 2.3 does with a source of these kinds."""
    assert kinds(source(connector, more)) == NORMALIZED


def test_a_source_of_all_changes_is_read_as_it_is() -> None:
    assert kinds(source("oracle-cdc")) == ["table-source-scan_2 I,UB,UA,D", "sink_2 NONE"]


def test_upserts_need_a_key() -> None:
    with pytest.raises(FlinkplanError, match="has no primary key, by which its source updates rows"):
        compile_script(source("tidb-cdc", key=""))


def test_a_connector_that_nobody_knows_is_said_to_be_assumed() -> None:
    assert rules(source("acme")) == [("changelog-assumed", "p.sql:1:68")]
    assert kinds(source("acme")) == ["table-source-scan_2 I", "sink_2 NONE"]


def test_the_kinds_can_be_said_and_stand_where_flink_does_not_look() -> None:
    script = source("acme", ", 'flinkplan.changelog' = 'I,UA,D'")
    assert rules(script) == []
    assert kinds(script) == NORMALIZED
    text = dumps(compile_script(script))
    assert "flinkplan.changelog" not in text
    scan = json.loads(text)["nodes"][0]
    assert scan["scanTableSource"]["table"]["resolvedTable"]["options"] == {"connector": "acme"}
    assert scan["flinkplan"] == {"changelog": "I,UA,D"}
    plan: Plan = loads(text)
    assert kinds_text(row_kinds(plan)[1] or NOTHING) == "I,UA,D"
    assert dumps(plan) == text


def test_the_kinds_that_a_sink_takes() -> None:
    sink = "CREATE TABLE k (s STRING PRIMARY KEY NOT ENFORCED, n BIGINT) WITH ('connector' = 'acme'{});\n"
    insert = "INSERT INTO k SELECT s, COUNT(*) FROM a GROUP BY s;"
    with pytest.raises(FlinkplanError, match="takes no updates") as caught:
        compile_script(f"{TABLES}{sink.format('')}{insert}")
    assert "flinkplan.changelog" in (caught.value.hint or "")
    said = sink.format(", 'flinkplan.changelog' = 'I,UA,D'")
    plan = compile_script(f"{TABLES}{said}{insert}")
    assert [kind.value for kind in getattr(plan.nodes[-1], "input_changelog_mode", ())] == ["INSERT", "UPDATE_AFTER"]


def test_a_misspelt_connector_is_refused() -> None:
    with pytest.raises(FlinkplanError, match="there is no connector 'mysql-cdcc'") as caught:
        compile_script(source("mysql-cdcc"))
    assert "did you mean 'mysql-cdc'" in (caught.value.hint or "")
