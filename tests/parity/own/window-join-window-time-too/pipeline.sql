CREATE TABLE LeftTable (rt TIMESTAMP(3), num INT, id STRING, WATERMARK FOR rt AS rt - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/LeftTable', 'format'='json');
CREATE TABLE RightTable (rt TIMESTAMP(3), num INT, id STRING, WATERMARK FOR rt AS rt - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/RightTable', 'format'='json');
CREATE TABLE o (lid STRING, rid STRING, ws TIMESTAMP(3), wt TIMESTAMP(3))
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='json');
INSERT INTO o SELECT L.id, R.id, L.window_start, L.window_time FROM TABLE(TUMBLE(TABLE LeftTable, DESCRIPTOR(rt), INTERVAL '10' MINUTES)) L LEFT JOIN TABLE(TUMBLE(TABLE RightTable, DESCRIPTOR(rt), INTERVAL '10' MINUTES)) R ON L.num = R.num AND L.window_start = R.window_start AND L.window_end = R.window_end AND L.window_time = R.window_time;
