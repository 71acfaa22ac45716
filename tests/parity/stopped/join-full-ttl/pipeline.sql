SET 'table.exec.state.ttl' = '1 h';
CREATE TABLE s (k STRING, v DECIMAL(10, 2)) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE t (k STRING, w DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '${DIR}/t', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE o (k STRING, v DECIMAL(10,2), w DOUBLE) WITH ('connector' = 'print');
INSERT INTO o
SELECT s.k, v, w FROM s FULL JOIN t ON s.k = t.k AND s.v > t.w;
