-- DISTINCT with every function that takes it, over rows that are updated and deleted
CREATE TABLE t (id INT, k STRING, v INT, b BIGINT, d DOUBLE, f FLOAT, dc DECIMAL(10,2), s STRING, bo BOOLEAN, dt DATE, ts TIMESTAMP(3), tm TIME(0), t TINYINT, xs ARRAY<INT>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'debezium-json');
CREATE TABLE o (k STRING, a0 INT, a1 INT, a2 INT, a3 INT, a4 BIGINT, a5 BIGINT, a6 BIGINT, a7 BIGINT, a8 DOUBLE, a9 DOUBLE, a10 DOUBLE, a11 DOUBLE, a12 BIGINT, a13 BIGINT, a14 STRING, a15 MULTISET<STRING>, a16 ARRAY<STRING>, a17 STRING, a18 STRING, a19 BIGINT, a20 INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'debezium-json');
INSERT INTO o SELECT k,
  SUM(DISTINCT v) AS a0,
  AVG(DISTINCT v) AS a1,
  MIN(DISTINCT v) AS a2,
  MAX(DISTINCT v) AS a3,
  SUM(DISTINCT b) AS a4,
  AVG(DISTINCT b) AS a5,
  MIN(DISTINCT b) AS a6,
  MAX(DISTINCT b) AS a7,
  SUM(DISTINCT d) AS a8,
  AVG(DISTINCT d) AS a9,
  MIN(DISTINCT d) AS a10,
  MAX(DISTINCT d) AS a11,
  COUNT(DISTINCT v) AS a12,
  COUNT(DISTINCT dc) AS a13,
  LISTAGG(DISTINCT s) AS a14,
  COLLECT(DISTINCT s) AS a15,
  ARRAY_AGG(DISTINCT s) AS a16,
  FIRST_VALUE(DISTINCT s) AS a17,
  LAST_VALUE(DISTINCT s) AS a18,
  COUNT(DISTINCT v) FILTER (WHERE bo) AS a19,
  SUM(DISTINCT v) FILTER (WHERE d > 1) AS a20
FROM t GROUP BY k;
