SET 'table.exec.source.idle-timeout' = '500 ms';
SET 'parallelism.default' = '2';
CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, ws TIMESTAMP(3), a INT, b INT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, window_start, MIN(v), MAX(v) FROM HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE) GROUP BY k, window_start, window_end;
