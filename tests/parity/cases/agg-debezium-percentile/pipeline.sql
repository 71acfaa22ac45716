-- percentiles of every numeric type over rows that are updated and deleted
CREATE TABLE t (id INT, k STRING, v INT, b BIGINT, d DOUBLE, f FLOAT, dc DECIMAL(10,2), s STRING, bo BOOLEAN, dt DATE, ts TIMESTAMP(3), tm TIME(0), t TINYINT, xs ARRAY<INT>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'debezium-json');
CREATE TABLE o (k STRING, a0 DOUBLE, a1 DOUBLE, a2 DOUBLE, a3 ARRAY<DOUBLE>, a4 DOUBLE, a5 DOUBLE) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'debezium-json');
INSERT INTO o SELECT k,
  PERCENTILE(v, 0.5) AS a0,
  PERCENTILE(d, 0.25) AS a1,
  PERCENTILE(dc, 0.9) AS a2,
  PERCENTILE(v, ARRAY[0.0, 0.5, 1.0]) AS a3,
  PERCENTILE(v, 0.5, 2) AS a4,
  PERCENTILE(f, 0.5) AS a5
FROM t GROUP BY k;
