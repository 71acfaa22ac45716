CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, ws TIMESTAMP(3), x DOUBLE, l STRING) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, window_start, SUM(CAST(v AS DOUBLE) / 3), LISTAGG(CAST(v AS STRING)) FROM HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE) GROUP BY k, window_start, window_end;
