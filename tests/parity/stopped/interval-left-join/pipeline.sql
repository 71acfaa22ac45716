CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE t (k STRING, w DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '${DIR}/t', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE o (k STRING, v INT, w DOUBLE) WITH ('connector' = 'print');
INSERT INTO o
SELECT s.k, v, w FROM s LEFT JOIN t ON s.k = t.k AND t.ts BETWEEN s.ts - INTERVAL '1' MINUTE AND s.ts + INTERVAL '1' MINUTE;
