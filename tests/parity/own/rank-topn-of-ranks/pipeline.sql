
CREATE TABLE ev (id INT, k STRING, v INT, d DECIMAL(10,2), f DOUBLE, s STRING, b BOOLEAN, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE o (c0 STRING, c1 INT, c2 BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='debezium-json');
INSERT INTO o SELECT s, v, r1 FROM (SELECT s, v, r1, ROW_NUMBER() OVER (ORDER BY r1) rn FROM (SELECT s, v, rn r1 FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY s ORDER BY v DESC) rn FROM ev) WHERE rn <= 2)) WHERE rn <= 4;
