CREATE TABLE o0 (
  id INT, u STRING, p STRING, amt DECIMAL(10, 2), q INT, ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/o0', 'format' = 'json');
CREATE TABLE `out` (
  a DECIMAL(38,18), b DECIMAL(38, 10)
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/out', 'format' = 'debezium-json');
INSERT INTO `out` SELECT AVG(CAST(amt AS DECIMAL(28, 10))), SUM(CAST(amt AS DECIMAL(28, 10))) FROM o0;
