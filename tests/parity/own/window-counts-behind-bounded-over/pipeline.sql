-- Windows behind a bounded OVER window, which takes late rows, by functions that Spark could compute by itself.
CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v STRING, n INT, WATERMARK FOR ts AS ts - INTERVAL '8' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE tumble_rows (we TIMESTAMP(3), k STRING, c BIGINT, x BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/tumble_rows','format'='json');
CREATE TABLE hop_range (we TIMESTAMP(3), k STRING, c BIGINT, x BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/hop_range','format'='json');
CREATE TEMPORARY VIEW r AS SELECT ts, k, v, n, COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS c FROM ev;
CREATE TEMPORARY VIEW q AS SELECT ts, k, v, n, COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW) AS c FROM ev;
EXECUTE STATEMENT SET BEGIN
INSERT INTO tumble_rows SELECT window_end, k, SUM(c), COUNT(v) FROM TABLE(TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE c > 1 GROUP BY window_start, window_end, k;
INSERT INTO hop_range SELECT window_end, k, MAX(c), COUNT(*) FROM TABLE(HOP(TABLE q, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k;
END;
