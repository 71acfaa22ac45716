CREATE TABLE s (k STRING, v INT) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, x INT, y INT, n BIGINT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, MAX(v), MIN(v), COUNT(*) FROM s GROUP BY k;
