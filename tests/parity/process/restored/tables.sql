CREATE TABLE scores (name STRING, score INT) WITH ('connector' = 'filesystem', 'path' = 'file://${DIR}/scores', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE cities (name STRING, city STRING) WITH ('connector' = 'filesystem', 'path' = 'file://${DIR}/cities', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE timed (name STRING, score INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND) WITH ('connector' = 'filesystem', 'path' = 'file://${DIR}/timed', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE totals (name STRING, total BIGINT, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'filesystem', 'path' = 'file://${DIR}/totals', 'format' = 'debezium-json', 'source.monitor-interval' = '100 ms');
