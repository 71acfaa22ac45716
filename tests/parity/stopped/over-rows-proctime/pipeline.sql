CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME()) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, v INT, s INT, n BIGINT, mn INT, mx INT, av INT, d BIGINT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, v, SUM(v) OVER w, COUNT(*) OVER w, MIN(v) OVER w, MAX(v) OVER w, AVG(v) OVER w, COUNT(DISTINCT v) OVER w FROM s WINDOW w AS (PARTITION BY k ORDER BY pt ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);
