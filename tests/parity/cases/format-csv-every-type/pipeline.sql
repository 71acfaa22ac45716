-- every type read
CREATE TABLE t (id INT, ti TINYINT, si SMALLINT, bi BIGINT, f FLOAT, db DOUBLE, dc DECIMAL(10,2), dt DATE, t TIME, ts TIMESTAMP(3), z TIMESTAMP_LTZ(3), by1 BYTES, c CHAR(5)) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true');
CREATE TABLE o (id INT, ti TINYINT, si SMALLINT, bi BIGINT, f FLOAT, db DOUBLE, dc DECIMAL(10,2), dt DATE, t TIME, ts TIMESTAMP(3), z TIMESTAMP_LTZ(3), by1 BYTES, c CHAR(5)) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT * FROM t;
