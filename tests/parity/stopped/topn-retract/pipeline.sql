CREATE TABLE s (k STRING, v INT) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, v INT, r BIGINT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, v, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS r FROM s) WHERE r <= 2;
