SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE t (id INT, z TIMESTAMP_LTZ(3), t TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'json');
CREATE TABLE res (id INT, a BOOLEAN, b BOOLEAN, c BOOLEAN, d BOOLEAN, e BOOLEAN, f BOOLEAN) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/res', 'format' = 'json');
INSERT INTO res SELECT id, z > t, z = t, z <> t, t >= z, z BETWEEN t AND TIMESTAMP '2024-11-01 00:00:00', z IN (TIMESTAMP '2024-10-27 02:30:00', TIMESTAMP '2024-03-31 03:15:00') FROM t;
