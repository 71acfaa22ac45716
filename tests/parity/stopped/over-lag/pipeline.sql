CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, v INT, x INT, y INT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, v, LAG(v, 1) OVER w, LAG(v, 2, -1) OVER w FROM s WINDOW w AS (PARTITION BY k ORDER BY ts);
