CREATE TABLE s (k STRING, v INT, w STRING) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, x INT, y STRING, n BIGINT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, FIRST_VALUE(v), LAST_VALUE(w), COUNT(DISTINCT v) FILTER (WHERE v > 1) FROM s GROUP BY k;
