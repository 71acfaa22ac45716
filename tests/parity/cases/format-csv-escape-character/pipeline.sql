-- an escape character, inside quotes and outside
CREATE TABLE t (id INT, s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'csv', 'csv.escape-character' = '\');
CREATE TABLE o (id INT, s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT * FROM t;
