CREATE TABLE pairs (id INT, customer STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'pairs', 'properties.bootstrap.servers' = 'h:9092', 'key.format' = 'json', 'value.format' = 'json');
INSERT INTO pairs SELECT a, b FROM orders MATCH_RECOGNIZE (ORDER BY ts MEASURES A.id AS a, A.customer AS b PATTERN (A B) DEFINE B AS B.id > A.id);
