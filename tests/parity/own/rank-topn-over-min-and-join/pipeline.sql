CREATE TABLE o0 (
  id INT, u STRING, p STRING, amt DECIMAL(10, 2), q INT, ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/o0', 'format' = 'json');
CREATE TABLE `out` (
  id INT, amt DECIMAL(10,2)
) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/out', 'format' = 'debezium-json');
INSERT INTO `out` SELECT o0.id, o0.amt FROM o0 JOIN (SELECT p, MIN(amt) m FROM o0 GROUP BY p) x ON o0.p = x.p AND o0.amt = x.m ORDER BY o0.id DESC LIMIT 5;
