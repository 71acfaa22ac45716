CREATE TABLE t (id INT, a INT, b INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'canal-json');
CREATE TABLE o (id INT, a INT, b INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'canal-json');
INSERT INTO o SELECT * FROM t;
