CREATE TABLE a (id STRING, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'kafka', 'topic' = 'a', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json');
CREATE TABLE b (id STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'kafka', 'topic' = 'b', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json');
CREATE TABLE names (id STRING, name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 'names');
CREATE TABLE totals (id STRING, n BIGINT) WITH ('connector' = 'print');
CREATE VIEW u AS SELECT id, ts FROM a UNION ALL SELECT id, ts FROM b;
CREATE VIEW windows AS SELECT window_start AS s, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
CREATE VIEW united AS SELECT window_start AS s, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE u, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
CREATE VIEW named AS SELECT a.id, names.name FROM a LEFT JOIN names FOR SYSTEM_TIME AS OF a.p ON a.id = names.id;
INSERT INTO totals SELECT id, COUNT(*) FROM a GROUP BY id;
