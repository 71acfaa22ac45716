SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v INT, x DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/ev', 'format'='json');
CREATE TABLE o (ws TIMESTAMP(3), we TIMESTAMP(3), a BIGINT, b BIGINT, c INT, d BIGINT, m INT)
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='json');
INSERT INTO o SELECT window_start, window_end, COUNT(DISTINCT k), COUNT(DISTINCT v) FILTER (WHERE v > 0), SUM(DISTINCT v), COUNT(*), MAX(v) FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '30' MINUTES)) GROUP BY window_start, window_end;
