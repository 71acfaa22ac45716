-- 0.0 and -0.0 are two keys of groups, joins and partitions.
CREATE TABLE z (id INT, d DOUBLE, f FLOAT, n INT) WITH ('connector'='filesystem','path'='${CASE}/data/z','format'='json');
CREATE TABLE g (d DOUBLE, c BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/g','format'='debezium-json');
CREATE TABLE gf (f FLOAT, c BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/gf','format'='debezium-json');
CREATE TABLE cd (c BIGINT, e BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/cd','format'='debezium-json');
CREATE TABLE j (a INT, b INT, d DOUBLE, e DOUBLE) WITH ('connector'='filesystem','path'='${CASE}/out/j','format'='json');
CREATE TABLE dd (d DOUBLE) WITH ('connector'='filesystem','path'='${CASE}/out/dd','format'='debezium-json');
CREATE TABLE rk (id INT, d DOUBLE, rn BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/rk','format'='debezium-json');
CREATE TABLE gs (s STRING, c BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/gs','format'='debezium-json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO g SELECT d, COUNT(*) FROM z GROUP BY d;
INSERT INTO gf SELECT f, COUNT(*) FROM z GROUP BY f;
INSERT INTO gs SELECT CAST(d AS STRING), COUNT(*) FROM z GROUP BY CAST(d AS STRING);
INSERT INTO cd SELECT COUNT(DISTINCT d), COUNT(DISTINCT f) FROM z;
INSERT INTO j SELECT a.id, b.id, a.d, b.d FROM z a JOIN z b ON a.d=b.d;
INSERT INTO dd SELECT DISTINCT d FROM z;
INSERT INTO rk SELECT id,d,rn FROM (SELECT id,d,ROW_NUMBER() OVER (PARTITION BY d ORDER BY id DESC) rn FROM z) WHERE rn<=2;
END;
