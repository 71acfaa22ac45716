CREATE TABLE s (k STRING, v STRING) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, x STRING, y STRING) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, LISTAGG(v), LISTAGG(v, '-') FROM s GROUP BY k;
