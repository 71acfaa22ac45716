CREATE TABLE t (d DOUBLE, f FLOAT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'json');
CREATE TABLE o (d DOUBLE, s STRING, n BIGINT, z BIGINT, w DOUBLE) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'debezium-json');
INSERT INTO o SELECT d, CAST(d AS STRING), COUNT(*), COUNT(*) FILTER (WHERE d = -0.0E0), MAX(-0.00E3 * f) FROM (SELECT d * -0.0E0 AS d, f FROM t) GROUP BY d;
