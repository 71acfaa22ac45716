CREATE TABLE ev (ts TIMESTAMP(3), k STRING, v INT, x DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/ev', 'format'='json');
CREATE TABLE a (ts TIMESTAMP(3), d1 DOUBLE, d2 DOUBLE, d3 DOUBLE, d4 DOUBLE)
WITH ('connector'='filesystem', 'path'='${CASE}/out/a', 'format'='json');
CREATE TABLE b (ts TIMESTAMP(3), d1 INT, d2 INT, d3 INT, d4 INT)
WITH ('connector'='filesystem', 'path'='${CASE}/out/b', 'format'='json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT ts, STDDEV_POP(x) OVER w, STDDEV_SAMP(x) OVER w, VAR_POP(x) OVER w, VAR_SAMP(x) OVER w FROM ev WINDOW w AS (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW);
INSERT INTO b SELECT ts, STDDEV_POP(v) OVER w, STDDEV_SAMP(v) OVER w, VAR_POP(v) OVER w, VAR_SAMP(v) OVER w FROM ev WINDOW w AS (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW);
END;
