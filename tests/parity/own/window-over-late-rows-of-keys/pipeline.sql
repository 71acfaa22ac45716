CREATE TABLE o (
  id INT, u STRING, p STRING, amt DECIMAL(10, 2), q INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/o', 'format' = 'json');
CREATE TABLE `out` (
  ws TIMESTAMP(3), m BIGINT
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/out', 'format' = 'json');
INSERT INTO `out` SELECT TUMBLE_START(ts, INTERVAL '2' MINUTE), MAX(s) FROM (SELECT ts, SUM(q) OVER (PARTITION BY p ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW) s FROM o) GROUP BY TUMBLE(ts, INTERVAL '2' MINUTE);
