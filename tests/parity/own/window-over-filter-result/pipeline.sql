CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v INT, x DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/ev', 'format'='json');
CREATE TABLE o (ts TIMESTAMP(3), k STRING, s INT)
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='json');
INSERT INTO o SELECT ts, k, s FROM (SELECT ts, k, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING) AS s FROM ev) WHERE s > 5;
