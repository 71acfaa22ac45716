"""A spec gives the plan of the SQL script that says the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flinkplan.planner.sql import parse_script
from tests.parity.corpus import Case, cases
from tests.planner.spec.conversion import spec_of
from tests.planner.spec.support import plan

TWINS = sorted((Path(__file__).parent / "twins").glob("*.yaml"))
SAMPLES = Path(__file__).parents[3] / "sample_plans"


def test_every_sample_has_a_twin() -> None:
    assert sorted(twin.stem for twin in TWINS) == sorted(
        script.parent.name for script in SAMPLES.glob("*/pipeline.sql")
    )


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.stem)
def test_the_twin_of_a_sample(twin: Path) -> None:
    script = SAMPLES / twin.stem / "pipeline.sql"
    assert plan(twin.read_text("utf-8"), "pipeline.yaml") == plan(script.read_text("utf-8"), "pipeline.sql")


PAIRS = {
    "columns of every kind": (
        """\
version: 1
tables:
  t:
    comment: with all of it
    columns:
      id: INT NOT NULL
      year: {type: INT, comment: a reserved word}
      price: DECIMAL(10, 2)
      twice: {as: price * 2, comment: computed}
      single: {as: 1}
      ts: {type: TIMESTAMP(3), metadata: timestamp, virtual: true}
      topic: {type: STRING, metadata: true}
      pair: ROW<x INT, y STRING>
    primary-key: {name: pk, columns: [id]}
    with: {connector: kafka, topic: t, properties.bootstrap.servers: h, value.format: debezium-json}
  o:
    columns: {id: INT, year: INT, twice: "DECIMAL(20, 2)", single: INT, ts: TIMESTAMP(3), topic: STRING, x: INT}
    with: {connector: print}
inserts:
  - into: o
    query: SELECT id, `year`, twice, single, ts, topic, t.pair.x FROM t
""",
        """\
CREATE TABLE t (
  id INT NOT NULL,
  `year` INT COMMENT 'a reserved word',
  price DECIMAL(10, 2),
  twice AS price * 2 COMMENT 'computed',
  single AS 1,
  ts TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL,
  topic STRING METADATA,
  pair ROW<x INT, y STRING>,
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'with all of it' WITH (
  'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h', 'value.format' = 'debezium-json'
);
CREATE TABLE o (
  id INT, `year` INT, twice DECIMAL(20, 2), single INT, ts TIMESTAMP(3), topic STRING, x INT
) WITH ('connector' = 'print');
INSERT INTO o SELECT id, `year`, twice, single, ts, topic, t.pair.x FROM t;
""",
    ),
    "like, in any order": (
        """\
version: 1
tables:
  copy:
    like: {table: origin, including: [all], excluding: [watermarks], overwriting: [options]}
    columns: {b: {as: a + 1}}
    with: {rows-per-second: 5}
  origin:
    columns: {a: INT, ts: TIMESTAMP(3)}
    watermark: {column: ts, as: ts}
    with: {connector: datagen, rows-per-second: 1}
  sink: {columns: {b: INT}, with: {connector: print}}
  same: {like: sink}
inserts:
  - {into: sink, query: SELECT b FROM copy}
  - {into: same, query: SELECT a FROM copy}
""",
        """\
CREATE TABLE origin (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'datagen', 'rows-per-second' = '1');
CREATE TABLE copy (b AS a + 1) WITH ('rows-per-second' = '5')
  LIKE origin (INCLUDING ALL EXCLUDING WATERMARKS OVERWRITING OPTIONS);
CREATE TABLE sink (b INT) WITH ('connector' = 'print');
CREATE TABLE same LIKE sink;
EXECUTE STATEMENT SET BEGIN
INSERT INTO sink SELECT b FROM copy;
INSERT INTO same SELECT a FROM copy;
END;
""",
    ),
    "views, in any order": (
        """\
version: 1
options:
  table.exec.mini-batch.enabled: false
  table.exec.state.ttl: 1 d
tables:
  t: {columns: {a: INT, s: STRING}, with: {connector: datagen}}
  o: {columns: {s: STRING, n: BIGINT}, primary-key: s, with: {connector: print}}
views:
  counted: {query: "SELECT k, COUNT(*) FROM renamed GROUP BY k", columns: [k, n]}
  renamed:
    columns: k
    comment: under another name
    query: >-
      WITH renamed AS (SELECT s FROM t)
      SELECT s
      FROM renamed
inserts:
  - into: o
    query: SELECT * FROM counted
""",
        """\
SET 'table.exec.mini-batch.enabled' = 'false';
SET 'table.exec.state.ttl' = '1 d';
CREATE TABLE t (a INT, s STRING) WITH ('connector' = 'datagen');
CREATE TABLE o (s STRING, n BIGINT, PRIMARY KEY (s) NOT ENFORCED) WITH ('connector' = 'print');
CREATE VIEW renamed (k) AS WITH renamed AS (SELECT s FROM t) SELECT s FROM renamed;
CREATE VIEW counted (k, n) AS SELECT k, COUNT(*) FROM renamed GROUP BY k;
INSERT INTO o SELECT * FROM counted;
""",
    ),
    "inserts with everything": (
        """\
version: 1
tables:
  t: {columns: {a: INT, b: BIGINT}, with: {connector: datagen}}
  default_catalog.default_database.o:
    columns: {a: INT, b: BIGINT, day: STRING, hour: INT}
    partitioned-by: [day, hour]
    with: {connector: filesystem, path: "${OUT}/o", format: json}
  k: {columns: {a: INT, b: BIGINT}, primary-key: [a], with: {connector: blackhole}}
inserts:
  - into: default_database.`o`
    partition: {day: 2024-01-01, hour: 7}
    columns: [b, a]
    options: {sink.parallelism: 2}
    query: SELECT b, a FROM t
  - into: k
    on-conflict: deduplicate
    query: "SELECT a, SUM(b)\\nFROM t GROUP BY a"
""",
        """\
CREATE TABLE t (a INT, b BIGINT) WITH ('connector' = 'datagen');
CREATE TABLE o (a INT, b BIGINT, `day` STRING, `hour` INT) PARTITIONED BY (`day`, `hour`)
  WITH ('connector' = 'filesystem', 'path' = '${OUT}/o', 'format' = 'json');
CREATE TABLE k (a INT, b BIGINT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'blackhole');
EXECUTE STATEMENT SET BEGIN
INSERT INTO o /*+ OPTIONS('sink.parallelism' = '2') */ PARTITION (`day` = '2024-01-01', `hour` = 7) (b, a)
  SELECT b, a FROM t;
INSERT INTO k SELECT a, SUM(b) FROM t GROUP BY a ON CONFLICT DO DEDUPLICATE;
END;
""",
    ),
}


@pytest.mark.parametrize(("spec", "script"), PAIRS.values(), ids=PAIRS)
def test_what_the_samples_leave_out(spec: str, script: str) -> None:
    assert plan(spec, "pipeline.yml") == plan(script, "pipeline.sql")


@pytest.mark.parametrize("case", [case for case in cases() if case.compiles][::6], ids=lambda case: case.name)
def test_the_corpus(case: Case) -> None:
    spec = spec_of(parse_script(case.pipeline))
    if spec is None:
        pytest.skip("the script says what a spec does not")
    assert plan(json.dumps(spec), "pipeline.yaml") == plan(case.pipeline, "pipeline.sql")
