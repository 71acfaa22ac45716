CREATE TABLE s (k STRING, v INT, pt AS PROCTIME()) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, v INT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt ASC) AS r FROM s) WHERE r = 1;
