SET 'table.optimizer.multi-join.enabled' = 'true';
CREATE TABLE c (id INT, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/c', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE d (id INT, n STRING, w INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/d', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3)) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (id INT, k STRING, v INT, n STRING, x INT) WITH ('connector' = 'print');
INSERT INTO o
SELECT c.id, c.k, c.v, d.n, s.v FROM c LEFT JOIN d ON c.id = d.id LEFT JOIN s ON c.k = s.k;
