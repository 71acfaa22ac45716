"""A session with a few tables, for tests of the binder."""

from __future__ import annotations

import pytest

from flinkplan.planner.session import Session
from flinkplan.planner.sql import parse_script

SETUP = """
CREATE TABLE t (
  id INT, a INT, b INT, bi BIGINT, f FLOAT, d DOUBLE, dc DECIMAL(10, 2), s STRING, c CHAR(5), vc VARCHAR(10),
  bo BOOLEAN, dt DATE, tm TIME(0), ts TIMESTAMP(3), ts2 TIMESTAMP(3), lt TIMESTAMP_LTZ(3),
  ar ARRAY<INT>, mp MAP<STRING, INT>, r ROW<x INT NOT NULL, y STRING>, nn INT NOT NULL,
  pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem');
CREATE TABLE u (id INT, a BIGINT, k STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'filesystem');
CREATE TABLE w (id INT, a INT, k STRING) WITH ('connector' = 'filesystem');
CREATE TABLE o (x BIGINT, y VARCHAR(4), z INT NOT NULL) WITH ('connector' = 'filesystem');
CREATE TABLE p (x INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem');
CREATE VIEW v AS SELECT id AS vid, a FROM t WHERE b > 0;
CREATE VIEW v2 (q, n) AS SELECT vid, COUNT(*) FROM v GROUP BY vid;
"""


@pytest.fixture
def session() -> Session:
    made = Session()
    for statement in parse_script(SETUP).statements:
        made.apply(statement)
    return made
