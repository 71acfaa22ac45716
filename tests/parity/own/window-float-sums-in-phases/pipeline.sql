-- Sums of floating-point numbers add up what local aggregations and slices come to.
CREATE TABLE ev (ts TIMESTAMP(3), k STRING, d DOUBLE, f FLOAT, WATERMARK FOR ts AS ts - INTERVAL '8' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE hop (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), s DOUBLE, a DOUBLE, f FLOAT, n BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/hop','format'='json');
CREATE TABLE cum (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), s DOUBLE, a DOUBLE, f FLOAT, n BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/cum','format'='json');
CREATE TABLE tumble (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), s DOUBLE, a DOUBLE, f FLOAT, n BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/tumble','format'='json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO hop SELECT k, window_start, window_end, SUM(d), AVG(d), SUM(f), COUNT(*) FROM TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '30' SECOND)) GROUP BY k, window_start, window_end;
INSERT INTO cum SELECT k, window_start, window_end, SUM(d), AVG(d), SUM(f), COUNT(*) FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '30' SECOND)) GROUP BY k, window_start, window_end;
INSERT INTO tumble SELECT k, window_start, window_end, SUM(d), AVG(d), SUM(f), COUNT(*) FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
END;
