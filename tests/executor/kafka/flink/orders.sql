CREATE TABLE orders (
  id BIGINT,
  product STRING,
  amount INT,
  ts TIMESTAMP(3),
  place BIGINT METADATA FROM 'offset' VIRTUAL,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'flink-orders',
  'format' = 'json',
  'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${BROKERS}'
);
CREATE TABLE counted (
  since TIMESTAMP(3),
  product STRING,
  amount INT,
  last BIGINT,
  told TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'
) WITH (
  'connector' = 'kafka',
  'topic' = 'flink-counted',
  'format' = 'json',
  'properties.bootstrap.servers' = '${BROKERS}'
);
INSERT INTO counted
SELECT window_start, product, SUM(amount), MAX(place), TO_TIMESTAMP_LTZ(COUNT(*), 3)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND))
WHERE amount > 0
GROUP BY window_start, window_end, product;
