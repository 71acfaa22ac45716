CREATE TABLE s (k STRING, v INT) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, x MULTISET<INT>, y ARRAY<INT>) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, COLLECT(v), ARRAY_AGG(v) FROM s GROUP BY k;
