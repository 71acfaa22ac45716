-- A NULL key finds the version of the NULL key.
CREATE TABLE l (id INT, k STRING, t TIMESTAMP(3), WATERMARK FOR t AS t - INTERVAL '5' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/l','format'='json');
CREATE TABLE v (k STRING, r INT, u TIMESTAMP(3), WATERMARK FOR u AS u - INTERVAL '3' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/v','format'='json');
CREATE TEMPORARY VIEW ver AS SELECT k, r, u FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY u DESC) rn FROM v) WHERE rn=1;
CREATE TABLE o (id INT, k STRING, vk STRING, r INT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='json');
INSERT INTO o SELECT l.id,l.k,ver.k,ver.r FROM l INNER JOIN ver FOR SYSTEM_TIME AS OF l.t ON l.k=ver.k;
