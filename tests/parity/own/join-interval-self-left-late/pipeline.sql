CREATE TABLE ev (id INT, k STRING, v INT, d DECIMAL(10,2), f DOUBLE, b BOOLEAN, ts TIMESTAMP(3), s STRING, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev.json','format'='json');
CREATE TABLE sink (c0 INT, c1 INT) WITH ('connector'='filesystem','path'='${CASE}/out/sink','format'='debezium-json');
INSERT INTO sink SELECT a.id, b.id FROM ev a LEFT JOIN ev b ON a.v = b.v AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '3' SECOND;
