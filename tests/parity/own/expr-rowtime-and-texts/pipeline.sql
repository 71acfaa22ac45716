SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE clicks (uid STRING, url STRING, ms DOUBLE, et TIMESTAMP_LTZ(3), WATERMARK FOR et AS et - INTERVAL '1' MINUTE) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/clicks', 'format' = 'json');
CREATE TABLE res (uid STRING, a BOOLEAN, b BOOLEAN, c BOOLEAN, d BOOLEAN) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/res', 'format' = 'json');
INSERT INTO res SELECT uid, et > '2024-03-31 02:30:00', et BETWEEN '2024-03-31 00:00:00' AND '2024-03-31 23:59:59.999', et >= CAST('2024-03-31' AS TIMESTAMP_LTZ(3)), CAST(et AS TIMESTAMP(3)) < '2024-03-31 03:00:00' FROM clicks;
