CREATE TABLE cdc (id INT, a INT, b STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/cdc', 'format' = 'debezium-json');
CREATE TABLE log (id INT, code STRING, x INT)
WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/log', 'format' = 'json');

CREATE TABLE changes (op STRING, id INT, a INT, b STRING)
WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/changes', 'format' = 'json');
CREATE TABLE counts (kind STRING, b STRING, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/counts', 'format' = 'json');
CREATE TABLE state (id INT, x INT)
WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/state', 'format' = 'debezium-json');
CREATE TABLE sums (x INT, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/sums', 'format' = 'debezium-json');
CREATE TABLE round_trip (b STRING, total INT)
WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/round_trip', 'format' = 'debezium-json');

CREATE VIEW restored AS SELECT id, x FROM FROM_CHANGELOG(
  input => TABLE log,
  op => DESCRIPTOR(code),
  op_mapping => MAP['c, r', 'INSERT', 'ub', 'UPDATE_BEFORE', 'ua', 'UPDATE_AFTER', 'd', 'DELETE']);
CREATE VIEW logged AS SELECT * FROM TO_CHANGELOG(input => TABLE cdc);

EXECUTE STATEMENT SET BEGIN
  INSERT INTO changes SELECT op, id, a, b FROM logged;
  INSERT INTO counts SELECT kind, b, n FROM TO_CHANGELOG(
    input => (SELECT b, COUNT(*) AS n FROM cdc GROUP BY b),
    op => DESCRIPTOR(kind),
    op_mapping => MAP['INSERT, UPDATE_AFTER', 'now', 'DELETE', 'gone']);
  INSERT INTO state SELECT id, x FROM restored;
  INSERT INTO sums SELECT x, COUNT(*) FROM restored GROUP BY x;
  INSERT INTO round_trip SELECT b, SUM(a) FROM FROM_CHANGELOG(input => TABLE logged) GROUP BY b;
END;
