CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE t (k STRING, w DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '${DIR}/t', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE VIEW x AS SELECT k, w, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS r FROM t) WHERE r = 1;
CREATE TABLE o (k STRING, v INT, w DOUBLE) WITH ('connector' = 'print');
INSERT INTO o
SELECT s.k, s.v, x.w FROM s LEFT JOIN x FOR SYSTEM_TIME AS OF s.ts ON s.k = x.k;
