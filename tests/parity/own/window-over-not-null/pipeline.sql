-- Over what is never NULL, SUM and AVG need no CASE while the frame has no offset; an OVER above another one names its columns anew.
CREATE TABLE ev (ts TIMESTAMP(3), k STRING, n INT NOT NULL, WATERMARK FOR ts AS ts - INTERVAL '20' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ev','format'='json');
CREATE TABLE unbounded (ts TIMESTAMP(3), k STRING, s INT, a INT, m INT, f INT, v INT) WITH ('connector'='filesystem','path'='${CASE}/out/unbounded','format'='json');
CREATE TABLE bounded (ts TIMESTAMP(3), k STRING, s INT, a INT) WITH ('connector'='filesystem','path'='${CASE}/out/bounded','format'='json');
CREATE TABLE twice (ts TIMESTAMP(3), c BIGINT, s BIGINT, m BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/twice','format'='json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO unbounded SELECT ts, k, SUM(n) OVER w, AVG(n) OVER w, MAX(n) OVER w, FIRST_VALUE(n) OVER w, VAR_POP(n) OVER w FROM ev WINDOW w AS (PARTITION BY k ORDER BY ts);
INSERT INTO bounded SELECT ts, k, SUM(n) OVER w, AVG(n) OVER w FROM ev WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);
INSERT INTO twice SELECT ts, c, SUM(c) OVER w, MAX(c) OVER w FROM (SELECT ts, n, COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS c FROM ev) WINDOW w AS (PARTITION BY n ORDER BY ts);
END;
