-- malformed messages of Oracle GoldenGate ignored
CREATE TABLE t (id INT, s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'ogg-json', 'ogg-json.ignore-parse-errors' = 'true');
CREATE TABLE o (id INT, s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'debezium-json');
INSERT INTO o SELECT * FROM t;
