
CREATE TABLE ev (id INT, k STRING, v INT, d DECIMAL(10,2), f DOUBLE, s STRING, b BOOLEAN, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE o (c0 STRING, c1 INT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='debezium-json');
INSERT INTO o SELECT k, m FROM (SELECT k, m, ROW_NUMBER() OVER (ORDER BY m DESC) rn FROM (SELECT k, MAX(v) m FROM ev WHERE k IS NOT NULL GROUP BY k)) WHERE rn <= 2;
