CREATE TABLE s (k STRING, v INT) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, x STRING, y STRING) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, JSON_OBJECTAGG(KEY k VALUE v), JSON_ARRAYAGG(v) FROM s GROUP BY k;
