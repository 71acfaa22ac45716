CREATE TABLE t (k STRING, v DECIMAL(38, 2), w DECIMAL(38, 38)) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'debezium-json');
CREATE TABLE o (k STRING, s DECIMAL(38, 2), d DECIMAL(38, 2), a DECIMAL(38, 6), n DECIMAL(38, 2), w DECIMAL(38, 38), x DECIMAL(38, 38)) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'debezium-json');
INSERT INTO o SELECT k, SUM(v), SUM(DISTINCT v), AVG(v), SUM(-v), MIN(ABS(w)), SUM(w) FROM t GROUP BY k;
