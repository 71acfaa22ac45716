-- LISTAGG over sessions that a row between them makes one.
CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v STRING, WATERMARK FOR ts AS ts - INTERVAL '14' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE tvf (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), a STRING, c ARRAY<STRING>) WITH ('connector'='filesystem','path'='${CASE}/out/tvf','format'='json');
CREATE TABLE legacy (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), a STRING, c ARRAY<STRING>) WITH ('connector'='filesystem','path'='${CASE}/out/legacy','format'='json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO tvf SELECT k, window_start, window_end, LISTAGG(v), ARRAY_AGG(v) FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '6' SECOND)) GROUP BY k, window_start, window_end;
INSERT INTO legacy SELECT k, SESSION_START(ts, INTERVAL '4' SECOND), SESSION_END(ts, INTERVAL '4' SECOND), LISTAGG(v), ARRAY_AGG(v) FROM ev GROUP BY k, SESSION(ts, INTERVAL '4' SECOND);
END;
