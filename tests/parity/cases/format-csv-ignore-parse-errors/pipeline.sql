-- fields that are malformed, missing or too many
CREATE TABLE t (id INT, s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true');
CREATE TABLE o (id INT, s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT * FROM t;
