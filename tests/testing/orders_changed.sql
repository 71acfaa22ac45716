-- A pipeline over topics, which its tests do not need.
CREATE TABLE orders (
  id BIGINT, product STRING, amount INT, price DECIMAL(10, 2), rate DOUBLE,
  sent TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = '${BROKERS}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset'
);
CREATE TABLE products (product STRING, family STRING, PRIMARY KEY (product) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'products', 'properties.bootstrap.servers' = '${BROKERS}',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE totals (
  product STRING, n BIGINT, total DECIMAL(38, 2), average_rate DOUBLE, PRIMARY KEY (product) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'totals', 'properties.bootstrap.servers' = '${BROKERS}',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE per_minute (window_start TIMESTAMP(3), product STRING, amount BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'minutes', 'properties.bootstrap.servers' = '${BROKERS}', 'format' = 'json'
);
CREATE VIEW families AS
SELECT o.id, p.family, o.amount FROM orders o JOIN products p ON o.product = p.product;
CREATE VIEW stamped AS SELECT id, sent FROM orders;

EXECUTE STATEMENT SET BEGIN
  INSERT INTO totals SELECT product, COUNT(*), SUM(price), AVG(rate) FROM orders WHERE product <> 'x' GROUP BY product;
  INSERT INTO per_minute
  SELECT window_start, product, SUM(amount)
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, product;
END;
