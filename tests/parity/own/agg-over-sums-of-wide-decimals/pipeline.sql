CREATE TABLE t (k STRING, v DECIMAL(38, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'json');
CREATE TABLE o (k STRING, v DECIMAL(38, 2), s DECIMAL(38, 2), a DECIMAL(38, 6)) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT k, v, SUM(v) OVER w, AVG(v) OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW);
