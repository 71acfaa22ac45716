CREATE TABLE o0 (
  id INT, u STRING, p STRING, amt DECIMAL(10, 2), q INT, ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/o0', 'format' = 'json');
CREATE TABLE `out` (
  u STRING, p STRING, a DECIMAL(38,6), n BIGINT
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/out', 'format' = 'debezium-json');
INSERT INTO `out` SELECT u, p, AVG(amt), COUNT(amt) FROM o0 GROUP BY u, p HAVING COUNT(amt) < 9;
