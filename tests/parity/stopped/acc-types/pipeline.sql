CREATE TABLE s (d DECIMAL(10, 2), dt DATE, tm TIME(0), t9 TIMESTAMP(9), z TIMESTAMP_LTZ(3), b BOOLEAN, f DOUBLE, bi BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (b BOOLEAN, a DECIMAL(38,2), c DATE, e TIMESTAMP(9), g DOUBLE, h DOUBLE, i TIME(0), j TIMESTAMP_LTZ(3), l DECIMAL(38,6)) WITH ('connector' = 'print');
INSERT INTO o
SELECT b, SUM(d), MAX(dt), MIN(t9), SUM(f), AVG(f), MAX(tm), MIN(z), AVG(d) FROM s GROUP BY b;
