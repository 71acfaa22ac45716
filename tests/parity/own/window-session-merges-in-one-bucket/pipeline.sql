CREATE TABLE ev (id INT, k STRING, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH ('connector'='filesystem','path'='${CASE}/data','format'='json');
CREATE TABLE o (k STRING, s TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, l STRING) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='json');
INSERT INTO o SELECT k, window_start, window_end, COUNT(*), LISTAGG(s) FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end;
