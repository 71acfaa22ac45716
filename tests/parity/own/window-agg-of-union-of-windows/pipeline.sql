CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v INT, x DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/ev', 'format'='json');
CREATE TABLE o (ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, s INT)
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='json');
INSERT INTO o SELECT window_start, window_end, COUNT(*), SUM(v) FROM (SELECT window_start, window_end, v FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) WHERE v > 0 UNION ALL SELECT window_start, window_end, v FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) WHERE k = 'a') GROUP BY window_start, window_end;
