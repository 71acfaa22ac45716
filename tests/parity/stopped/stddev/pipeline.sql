CREATE TABLE s (k STRING, v DOUBLE) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, x DOUBLE, y DOUBLE) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, ROUND(STDDEV_POP(v), 6), ROUND(VAR_SAMP(v), 6) FROM s GROUP BY k;
