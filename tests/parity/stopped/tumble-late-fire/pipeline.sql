SET 'table.exec.emit.late-fire.enabled' = 'true';
SET 'table.exec.emit.late-fire.delay' = '0 s';
SET 'table.exec.emit.allow-lateness' = '10 min';
CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, n BIGINT, we TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, COUNT(*), TUMBLE_END(ts, INTERVAL '5' MINUTE) FROM s GROUP BY k, TUMBLE(ts, INTERVAL '5' MINUTE);
