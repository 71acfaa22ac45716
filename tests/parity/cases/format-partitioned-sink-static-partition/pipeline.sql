-- a partition named in the INSERT, the other taken from the rows
CREATE TABLE t (id INT, s STRING) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'json');
CREATE TABLE o (id INT, s STRING, d DATE) PARTITIONED BY (d, s) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o PARTITION (d = '2024-01-01') SELECT id, s FROM t;
