CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v INT, x DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/ev', 'format'='json');
CREATE TABLE o (ts TIMESTAMP(3), k STRING, v INT, f INT, l INT, g INT, g2 INT)
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='json');
INSERT INTO o SELECT ts, k, v, FIRST_VALUE(v) OVER (PARTITION BY k ORDER BY ts), LAST_VALUE(v) OVER (PARTITION BY k ORDER BY ts), LAG(v) OVER (PARTITION BY k ORDER BY ts), LAG(v, 2, -99) OVER (PARTITION BY k ORDER BY ts) FROM ev;
