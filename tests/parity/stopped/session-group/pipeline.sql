CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, n BIGINT, x INT, d DOUBLE, ws TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, COUNT(*), MAX(v), AVG(CAST(v AS DOUBLE)), SESSION_START(ts, INTERVAL '90' SECOND) FROM s GROUP BY k, SESSION(ts, INTERVAL '90' SECOND);
