CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, v INT, x BIGINT, m INT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, v, COUNT(*) OVER w, MAX(v) OVER w FROM s WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING AND CURRENT ROW);
