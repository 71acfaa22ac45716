-- Late rows update the results of legacy windows; neither option is part of the plan.
SET 'table.exec.emit.late-fire.enabled' = 'true';
SET 'table.exec.emit.late-fire.delay' = '0 ms';
SET 'table.exec.emit.allow-lateness' = '5 min';
CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/t','format'='json');
CREATE TABLE o (ws TIMESTAMP(3), k STRING, n BIGINT, s INT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='debezium-json');
INSERT INTO o SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE), k, COUNT(*), SUM(v) FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);
