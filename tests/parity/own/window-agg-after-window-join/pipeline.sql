CREATE TABLE LeftTable (rt TIMESTAMP(3), num INT, id STRING, WATERMARK FOR rt AS rt - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/LeftTable', 'format'='json');
CREATE TABLE RightTable (rt TIMESTAMP(3), num INT, id STRING, WATERMARK FOR rt AS rt - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/RightTable', 'format'='json');
CREATE TABLE o (ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, m STRING)
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='json');
INSERT INTO o SELECT ws, we, COUNT(*), MAX(rid) FROM (SELECT L.window_start AS ws, L.window_end AS we, L.id AS lid, R.id AS rid FROM (SELECT * FROM TABLE(TUMBLE(TABLE LeftTable, DESCRIPTOR(rt), INTERVAL '10' MINUTES))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE RightTable, DESCRIPTOR(rt), INTERVAL '10' MINUTES))) R ON L.num = R.num AND L.window_start = R.window_start AND L.window_end = R.window_end) GROUP BY ws, we;
