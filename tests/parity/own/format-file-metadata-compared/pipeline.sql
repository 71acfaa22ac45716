CREATE TABLE t (id INT, v STRING, fn STRING NOT NULL METADATA FROM 'file.name', fs BIGINT METADATA FROM 'file.size', up AS CONCAT(fn, '-', v)) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'json');
CREATE TABLE res (id INT, up STRING, big BOOLEAN, f STRING) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/res', 'format' = 'json');
INSERT INTO res SELECT id, UPPER(up), fs > 10, SUBSTRING(fn, 1, 2) FROM t WHERE v <> 'b' AND CHAR_LENGTH(fn) > 2;
