CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, v INT, r BIGINT, ws TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, v, r, window_start FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC, k) AS r FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '4' MINUTE, INTERVAL '-30' SECOND)) WHERE r <= 2;
