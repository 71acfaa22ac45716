-- databases and tables chosen by regular expressions
CREATE TABLE t (id INT, s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'canal-json', 'canal-json.database.include' = 'i.*|oth', 'canal-json.table.include' = 'prod');
CREATE TABLE o (id INT, s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'debezium-json');
INSERT INTO o SELECT * FROM t;
