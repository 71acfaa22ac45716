CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, ws TIMESTAMP(3), x DOUBLE, y INT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, window_start, AVG(CAST(v AS DOUBLE)), LAST_VALUE(v) FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '30' SECOND) GROUP BY k, window_start, window_end;
