CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, we TIMESTAMP(3), n BIGINT, x BIGINT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, window_end, COUNT(DISTINCT v), COUNT(*) FROM CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '6' MINUTE) GROUP BY k, window_start, window_end;
