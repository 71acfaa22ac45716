-- Rows that are late for the watermark, but not for a bounded OVER window, are late for what follows it.
CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v STRING, n INT, WATERMARK FOR ts AS ts - INTERVAL '8' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE tumble_rows (we TIMESTAMP(3), k STRING, c BIGINT, x STRING) WITH ('connector'='filesystem','path'='${CASE}/out/tumble_rows','format'='json');
CREATE TABLE tumble_range (we TIMESTAMP(3), k STRING, c BIGINT, x STRING) WITH ('connector'='filesystem','path'='${CASE}/out/tumble_range','format'='json');
CREATE TABLE over_over (ts TIMESTAMP(3), k STRING, v STRING, c BIGINT, e BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/over_over','format'='json');
CREATE TABLE first_row (ts TIMESTAMP(3), k STRING, v STRING) WITH ('connector'='filesystem','path'='${CASE}/out/first_row','format'='json');
CREATE TEMPORARY VIEW r AS SELECT ts, k, v, n, COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS c FROM ev;
CREATE TEMPORARY VIEW q AS SELECT ts, k, v, n, COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW) AS c FROM ev;
EXECUTE STATEMENT SET BEGIN
INSERT INTO tumble_rows SELECT window_end, k, SUM(c), LISTAGG(v) FROM TABLE(TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k;
INSERT INTO tumble_range SELECT window_end, k, SUM(c), LISTAGG(v) FROM TABLE(TUMBLE(TABLE q, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k;
INSERT INTO over_over SELECT ts, k, v, c, SUM(c) OVER (PARTITION BY n ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM (SELECT ts, k, v, n, c + 10 AS c FROM r);
INSERT INTO first_row SELECT ts, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n ORDER BY ts) AS rn FROM r) WHERE rn = 1;
END;
