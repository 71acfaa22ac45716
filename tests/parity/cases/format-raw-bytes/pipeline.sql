-- lines as bytes
CREATE TABLE t (s BYTES) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'raw');
CREATE TABLE o (s BYTES) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT s FROM t;
