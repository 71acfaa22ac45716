-- Patterns of rows: quantifiers, where the search goes on, aggregates, WITHIN, late rows, and what reads matches.
CREATE TABLE ticks (id INT, k STRING, price INT, tax DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/ticks','format'='json');
CREATE VIEW rises AS SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id MEASURES B.price AS p, MATCH_ROWTIME() AS t PATTERN (A B) DEFINE B AS B.price > A.price);
CREATE TABLE dips (k STRING, start_ts TIMESTAMP(3), bottom INT, end_price INT, n BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/dips','format'='json');
CREATE TABLE sums (a INT, b INT, total INT, mean INT, most DOUBLE, n BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/sums','format'='json');
CREATE TABLE overlapping (k STRING, a INT, b INT, c INT, q STRING) WITH ('connector'='filesystem','path'='${CASE}/out/overlapping','format'='json');
CREATE TABLE in_time (k STRING, a INT, b INT) WITH ('connector'='filesystem','path'='${CASE}/out/in_time','format'='json');
CREATE TABLE by_window (s TIMESTAMP(3), n BIGINT, m INT) WITH ('connector'='filesystem','path'='${CASE}/out/by_window','format'='json');
CREATE TABLE by_key (k STRING, n BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/by_key','format'='debezium-json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO dips SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id MEASURES START_ROW.ts AS start_ts, LAST(DOWN.price) AS bottom, LAST(UP.price) AS end_price, COUNT(DOWN.price) AS n ONE ROW PER MATCH AFTER MATCH SKIP TO LAST UP PATTERN (START_ROW DOWN+ UP) DEFINE DOWN AS (LAST(DOWN.price, 1) IS NULL AND DOWN.price < START_ROW.price) OR DOWN.price < LAST(DOWN.price, 1), UP AS UP.price > LAST(DOWN.price, 1));
INSERT INTO sums SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts, id DESC MEASURES FIRST(A.id) AS a, LAST(A.id, 1) AS b, SUM(A.price) AS total, AVG(A.price) AS mean, MAX(B.tax) AS most, COUNT(*) AS n AFTER MATCH SKIP PAST LAST ROW PATTERN (A{2,4} B C) DEFINE A AS SUM(A.price) < 20, B AS B.tax >= 1, C AS C.price <> FIRST(A.price));
INSERT INTO overlapping SELECT k, a, b, c, UPPER(k) || CAST(b AS STRING) FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id MEASURES A.id AS a, LAST(B.id) AS b, C.id AS c PATTERN (A B*? C) DEFINE A AS A.price > 5, B AS B.price < A.price, C AS C.price IN (1, 2, 8) AND MOD(C.id, 2) = 0);
INSERT INTO in_time SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id MEASURES A.id AS a, B.id AS b AFTER MATCH SKIP TO NEXT ROW PATTERN (A X? B) WITHIN INTERVAL '4' SECOND DEFINE A AS A.price > 4, B AS B.price > A.price OR price IS NULL);
INSERT INTO by_window SELECT window_start, COUNT(*), MAX(p) FROM TABLE(TUMBLE(TABLE rises, DESCRIPTOR(t), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
INSERT INTO by_key SELECT k, COUNT(*) FROM rises GROUP BY k;
END;
