-- CURRENT_WATERMARK shows the watermark before a row, and tells late rows
CREATE TABLE t (id INT, k STRING, v INT, b BIGINT, d DOUBLE, f FLOAT, dc DECIMAL(10,2), s STRING, bo BOOLEAN, dt DATE, ts TIMESTAMP(3), tm TIME(0), t TINYINT, xs ARRAY<INT>, r ROW<a INT, b STRING>, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'json');
CREATE TABLE o (id INT, k STRING, a0 TIMESTAMP(3), a1 BOOLEAN) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT id, k,
  CURRENT_WATERMARK(ts) AS a0,
  ts <= CURRENT_WATERMARK(ts) AS a1
FROM t WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts);
