CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, n BIGINT, x INT, ws TIMESTAMP(3), we TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, COUNT(*), SUM(v), window_start, window_end FROM SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '90' SECOND) GROUP BY k, window_start, window_end;
