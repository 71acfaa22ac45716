CREATE TABLE s (k STRING, v INT, pt AS PROCTIME()) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, v INT, x INT, n BIGINT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, v, SUM(v) OVER w, COUNT(*) OVER w FROM s WINDOW w AS (PARTITION BY k ORDER BY pt);
