SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v INT, x DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/ev', 'format'='json');
CREATE TABLE o (ws TIMESTAMP(3), we TIMESTAMP(3), k STRING, a BIGINT, b INT, d DOUBLE)
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='json');
INSERT INTO o SELECT window_start, window_end, k, COUNT(DISTINCT v), AVG(v), AVG(x) FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '30' MINUTES)) GROUP BY window_start, window_end, k;
