
CREATE TABLE ev (id INT, k STRING, v INT, d DECIMAL(10,2), f DOUBLE, s STRING, b BOOLEAN, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE o (c0 STRING, c1 INT, c2 BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='debezium-json');
INSERT INTO o SELECT s, m, n FROM (SELECT s, m, n, ROW_NUMBER() OVER (ORDER BY m DESC) rn FROM (SELECT s, MAX(v) m, COUNT(*) n FROM ev GROUP BY s)) WHERE rn <= 3;
