"""What Flink 2.3 compiles and does not start: each was seen there, and so was each that it starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flinkplan.compat.validation import starts_on_flink
from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.cli.support import flinkplan

TABLES = """
CREATE TABLE t (id INT, k STRING, v INT, mp MAP<STRING, INT>, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/t', 'format' = 'json');
CREATE TABLE c (id INT, v INT, ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/c', 'format' = 'debezium-json');
CREATE TABLE o (x INT) WITH ('connector' = 'filesystem', 'path' = '/o', 'format' = 'json');
CREATE TABLE d (x INT, y BIGINT) WITH ('connector' = 'filesystem', 'path' = '/d', 'format' = 'debezium-json');
CREATE TABLE m (x MAP<STRING, INT>) WITH ('connector' = 'filesystem', 'path' = '/m', 'format' = 'csv');
CREATE TABLE j (x ROW<a MAP<INT, INT>>) WITH ('connector' = 'filesystem', 'path' = '/j', 'format' = 'json');
"""

OVER = "INSERT INTO d SELECT id, {} FROM t;"
WINDOW = "INSERT INTO d SELECT 1, COUNT(*) FROM TABLE({}) GROUP BY window_start, window_end;"
MATCH = """INSERT INTO o SELECT a FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY {}
MEASURES A.v AS a PATTERN ({}) DEFINE A AS A.v > 1);"""


def told(script: str) -> list[str]:
    return [finding.message for finding in starts_on_flink(compile_script(TABLES + script))]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("INSERT INTO o SELECT id FROM t ORDER BY id;", "sorted by other than its event time"),
        ("INSERT INTO o SELECT id FROM t ORDER BY ts DESC;", "sorted by other than its event time"),
        ("INSERT INTO d SELECT id, 1 FROM t ORDER BY id OFFSET 3;", "OFFSET has no LIMIT"),
        ("INSERT INTO o SELECT id FROM t OFFSET 3;", "OFFSET has no LIMIT"),
        (OVER.format("COUNT(*) OVER (PARTITION BY k)"), "OVER has no ORDER BY"),
        (OVER.format("LEAD(v) OVER (PARTITION BY k ORDER BY ts)"), "there is no LEAD on streams"),
        (OVER.format("NTILE(3) OVER (PARTITION BY k ORDER BY ts)"), "there is no NTILE on streams"),
        (
            OVER.format("COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)"),
            "reaches beyond the current row",
        ),
        ("INSERT INTO o SELECT v FROM t WHERE id = '1';", "a text is compared with a number"),
        ("INSERT INTO o SELECT v FROM t WHERE k <> 1;", "a text is compared with a number"),
        (
            "INSERT INTO o SELECT t.v FROM t JOIN c FOR SYSTEM_TIME AS OF t.pt AS r ON t.id = r.id;",
            "as of processing time",
        ),
        (
            WINDOW.format("HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '7' MINUTE, INTERVAL '1' HOUR)"),
            "no multiple of its slide",
        ),
        (MATCH.format("v", "A B"), "ordered by no time attribute"),
        (MATCH.format("ts DESC", "A B"), "ordered backwards"),
        (MATCH.format("ts", "A+ B+"), "the last variable of the pattern is greedy"),
        (MATCH.format("ts", "A+"), "the last variable of the pattern is greedy"),
        (MATCH.format("ts", "A | B"), "the pattern has alternatives"),
        (MATCH.format("ts", "A{0} B"), "a variable that never occurs"),
        ("INSERT INTO m SELECT mp FROM t;", "CSV has no maps, as in the column 'x'"),
        ("INSERT INTO j SELECT ROW(MAP[1, 1]) FROM t;", "the keys of maps are texts in JSON, not so in 'x'"),
        ("INSERT OVERWRITE o SELECT id FROM t;", "INSERT OVERWRITE on a stream"),
    ],
)
def test_what_flink_does_not_start(script: str, words: str) -> None:
    messages = told(script)
    assert messages and all(words in message for message in messages)


@pytest.mark.parametrize(
    "script",
    [
        "INSERT INTO o SELECT id FROM t ORDER BY ts, id;",
        "INSERT INTO o SELECT id FROM t ORDER BY pt;",
        "INSERT INTO d SELECT id, 1 FROM t ORDER BY id LIMIT 3;",
        "INSERT INTO o SELECT id FROM t LIMIT 3;",
        OVER.format("COUNT(*) OVER (PARTITION BY k ORDER BY v)"),
        OVER.format("RANK() OVER (PARTITION BY k ORDER BY ts)"),
        OVER.format("COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"),
        WINDOW.format("HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '6' MINUTE, INTERVAL '1' HOUR)"),
        MATCH.format("ts", "A B*?"),
        MATCH.format("ts, v", "A+ B"),
        "INSERT INTO o SELECT t.v FROM t JOIN c FOR SYSTEM_TIME AS OF t.ts AS r ON t.id = r.id;",
    ],
)
def test_what_flink_starts(script: str) -> None:
    assert told(script) == []


def test_validate_says_where(tmp_path: Path) -> None:
    save(compile_script(TABLES + "INSERT INTO o SELECT id FROM t ORDER BY id;"), tmp_path / "plan.json")
    arguments = ("validate", str(tmp_path / "plan.json"), "--format", "json")
    outcome = flinkplan(*arguments, "--for", "flink")
    assert outcome.code == 1
    assert "flink-start" in {finding["rule"] for finding in json.loads(outcome.out)["findings"]}
    assert "stream-exec-sort_1" in outcome.out
    assert "flink-start" not in flinkplan(*arguments).out
