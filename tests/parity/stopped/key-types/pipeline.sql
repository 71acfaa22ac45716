CREATE TABLE s (d DECIMAL(10, 2), dt DATE, tm TIME(0), t9 TIMESTAMP(9), z TIMESTAMP_LTZ(3), b BOOLEAN, f DOUBLE, bi BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (d DECIMAL(10,2), dt DATE, t9 TIMESTAMP(9), b BOOLEAN, n BIGINT, m BIGINT) WITH ('connector' = 'print');
INSERT INTO o
SELECT d, dt, t9, b, COUNT(*), SUM(bi) FROM s GROUP BY d, dt, t9, b;
