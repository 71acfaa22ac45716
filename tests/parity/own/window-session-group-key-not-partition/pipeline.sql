CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v INT, x DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/ev', 'format'='json');
CREATE TABLE o (ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, s INT)
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='debezium-json');
INSERT INTO o SELECT window_start, window_end, COUNT(*), SUM(v) FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end;
