-- a control character for the delimiter
CREATE TABLE t (id INT, s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'csv', 'csv.field-delimiter' = '\u0001');
CREATE TABLE o (id INT, s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT * FROM t;
