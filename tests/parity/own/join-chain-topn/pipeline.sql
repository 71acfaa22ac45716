CREATE TABLE o0 (
  id INT, u STRING, p STRING, amt DECIMAL(10, 2), q INT, ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/o0', 'format' = 'json');
CREATE TABLE prod (
  p STRING, name STRING, price DOUBLE, tags ARRAY<STRING>, attrs MAP<STRING, STRING>
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/prod', 'format' = 'json');
CREATE TABLE ratesx (
  p STRING, rate INT, rt TIMESTAMP(3), WATERMARK FOR rt AS rt - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/ratesx', 'format' = 'json');
CREATE TABLE `out` (
  id INT, name STRING, m INT
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/out', 'format' = 'debezium-json');
INSERT INTO `out` SELECT id, name, m FROM o0 JOIN prod ON o0.p = prod.p JOIN (SELECT p, MAX(rate) m FROM ratesx GROUP BY p) x ON x.p = o0.p ORDER BY m DESC, id, name LIMIT 7;
