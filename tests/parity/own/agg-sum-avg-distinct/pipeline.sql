CREATE TABLE o0 (
  id INT, u STRING, p STRING, amt DECIMAL(10, 2), q INT, ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/o0', 'format' = 'json');
CREATE TABLE `out` (
  p STRING, a INT, b DECIMAL(38,2), c DECIMAL(38,6)
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/out', 'format' = 'debezium-json');
INSERT INTO `out` SELECT p, SUM(DISTINCT q), SUM(DISTINCT amt), AVG(DISTINCT amt) FROM o0 GROUP BY p;
