CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, x INT, y INT) WITH ('connector' = 'print');
INSERT INTO o
SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS x, C.v AS y ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A B{1,2}? C) WITHIN INTERVAL '3' MINUTE DEFINE B AS B.v > 1, C AS C.v <> A.v);
