SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '1 s';
SET 'table.exec.mini-batch.size' = '100';
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
CREATE TABLE s (k STRING, v STRING) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, n BIGINT) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, COUNT(DISTINCT v) FROM s GROUP BY k;
