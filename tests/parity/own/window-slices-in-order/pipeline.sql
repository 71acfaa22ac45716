-- LISTAGG and ARRAY_AGG over windows that Flink merges of slices: HOP from the latest slice on, CUMULATE as slices end, with rows out of order and late.
SET 'table.local-time-zone'='Asia/Kolkata';
CREATE TABLE ev (tl TIMESTAMP_LTZ(3), k STRING, v STRING, WATERMARK FOR tl AS tl - INTERVAL '8' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE hop (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), a STRING, c ARRAY<STRING>) WITH ('connector'='filesystem','path'='${CASE}/out/hop','format'='json');
CREATE TABLE cum (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), a STRING, c ARRAY<STRING>) WITH ('connector'='filesystem','path'='${CASE}/out/cum','format'='json');
CREATE TABLE legacy (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), a STRING, c ARRAY<STRING>) WITH ('connector'='filesystem','path'='${CASE}/out/legacy','format'='json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO hop SELECT k, window_start, window_end, LISTAGG(v, ';'), ARRAY_AGG(v) FROM TABLE(HOP(TABLE ev, DESCRIPTOR(tl), INTERVAL '10' SECOND, INTERVAL '30' SECOND, INTERVAL '3' SECOND)) GROUP BY k, window_start, window_end;
INSERT INTO cum SELECT k, window_start, window_end, LISTAGG(v, ';'), ARRAY_AGG(v) FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(tl), INTERVAL '10' SECOND, INTERVAL '40' SECOND, INTERVAL '-4' SECOND)) GROUP BY k, window_start, window_end;
INSERT INTO legacy SELECT k, HOP_START(tl, INTERVAL '10' SECOND, INTERVAL '25' SECOND), HOP_END(tl, INTERVAL '10' SECOND, INTERVAL '25' SECOND), LISTAGG(v, ';'), ARRAY_AGG(v) FROM ev GROUP BY k, HOP(tl, INTERVAL '10' SECOND, INTERVAL '25' SECOND);
END;
