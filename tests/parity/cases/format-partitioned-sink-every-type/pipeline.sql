-- partition columns of several types, with NULLs and characters that paths escape
CREATE TABLE t (id INT, s STRING, d DATE, k INT, b BOOLEAN) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'json');
CREATE TABLE o (id INT, s STRING, d DATE, k INT, b BOOLEAN) PARTITIONED BY (s, d, k, b) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT * FROM t;
