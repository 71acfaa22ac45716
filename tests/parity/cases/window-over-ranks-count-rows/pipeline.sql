-- RANK and DENSE_RANK over a stream count rows; rows of the same time share the number.
CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v INT, d DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '2' MINUTE) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE o (ts TIMESTAMP(3), k STRING, v INT, r BIGINT, dr BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='json');
INSERT INTO o SELECT ts,k,v,RANK() OVER w, DENSE_RANK() OVER w FROM ev WINDOW w AS (PARTITION BY k ORDER BY ts);
