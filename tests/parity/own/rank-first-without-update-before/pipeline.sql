
CREATE TABLE ev (id INT, k STRING, v INT, d DECIMAL(10,2), f DOUBLE, s STRING, b BOOLEAN, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE o (c0 BOOLEAN, c1 STRING, c2 BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='debezium-json');
INSERT INTO o SELECT b, FIRST_VALUE(s), COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY s ORDER BY v) rn FROM ev) WHERE rn = 1 GROUP BY b;
