-- A window over two sources: Flink reads small files one after the other, so that only rows of the last one are late.
CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/t','format'='json');
CREATE TABLE u (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/u','format'='json');
CREATE TABLE o (ws TIMESTAMP(3), k STRING, n BIGINT, s INT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='json');
CREATE TEMPORARY VIEW uu AS SELECT * FROM t UNION ALL SELECT * FROM u;
INSERT INTO o SELECT window_start,k,COUNT(*),SUM(v) FROM TABLE(TUMBLE(TABLE uu, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start,window_end,k;
