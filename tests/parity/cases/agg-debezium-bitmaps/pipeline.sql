-- bitmaps built, intersected, united and counted over rows that are updated and deleted
CREATE TABLE t (id INT, k STRING, v INT, b BIGINT, d DOUBLE, f FLOAT, dc DECIMAL(10,2), s STRING, bo BOOLEAN, dt DATE, ts TIMESTAMP(3), tm TIME(0), t TINYINT, xs ARRAY<INT>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'debezium-json');
CREATE TABLE o (k STRING, a0 STRING, a1 BIGINT, a2 STRING, a3 STRING, a4 STRING, a5 BIGINT, a6 BIGINT, a7 BIGINT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'debezium-json');
INSERT INTO o SELECT k,
  BITMAP_TO_STRING(BITMAP_BUILD_AGG(v)) AS a0,
  BITMAP_BUILD_CARDINALITY_AGG(v) AS a1,
  BITMAP_TO_STRING(BITMAP_AND_AGG(BITMAP_BUILD(xs))) AS a2,
  BITMAP_TO_STRING(BITMAP_OR_AGG(BITMAP_BUILD(xs))) AS a3,
  BITMAP_TO_STRING(BITMAP_XOR_AGG(BITMAP_BUILD(xs))) AS a4,
  BITMAP_AND_CARDINALITY_AGG(BITMAP_BUILD(xs)) AS a5,
  BITMAP_OR_CARDINALITY_AGG(BITMAP_BUILD(xs)) AS a6,
  BITMAP_XOR_CARDINALITY_AGG(BITMAP_BUILD(xs)) AS a7
FROM t GROUP BY k;
