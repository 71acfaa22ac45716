CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v INT, x DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/ev', 'format'='json');
CREATE TABLE o (ws TIMESTAMP(3), we TIMESTAMP(3), k STRING, n BIGINT)
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='json');
INSERT INTO o SELECT window_start, window_end, k, COUNT(*) FROM TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) WHERE window_start >= TIMESTAMP '2024-03-01 10:00:00' AND window_end < TIMESTAMP '2024-03-01 10:30:00' GROUP BY window_start, window_end, k;
