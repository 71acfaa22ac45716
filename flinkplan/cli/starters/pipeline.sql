-- A pipeline: tables, then one INSERT (or EXECUTE STATEMENT SET BEGIN ... END).
--
--   flinkplan compile pipeline.sql -o plan.json                  the plan, to be kept in git
--   flinkplan explain plan.json                                  its operators, states and TTLs
--   flinkplan ttl plan.json --set 'deduplicate.*=2 d' -i         another TTL, in the plan alone
--   flinkplan execute plan.json --var DATA=data --var OUT=out    the rows

-- State is forgotten so long after it was last written; windows clean up after themselves.
SET 'table.exec.state.ttl' = '1 d';

CREATE TABLE orders (
  order_id   BIGINT,
  product    STRING,
  amount     DECIMAL(10, 2),
  order_time TIMESTAMP(3),
  arrival    AS PROCTIME(),
  -- rows may come up to five seconds late
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/orders',   -- ${...} is replaced when the plan runs, so no path lands in git
  'format' = 'json'
);

CREATE TABLE sales_per_hour (
  product      STRING,
  window_start TIMESTAMP(3),
  orders       BIGINT,
  amount       DECIMAL(38, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/sales_per_hour',
  'format' = 'json'
);

-- An order that is delivered twice counts once: its number is kept in state, for the TTL above.
CREATE VIEW first_deliveries AS
SELECT order_id, product, amount, order_time
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY arrival) AS delivery FROM orders)
WHERE delivery = 1;

INSERT INTO sales_per_hour
SELECT product, window_start, COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE first_deliveries, DESCRIPTOR(order_time), INTERVAL '1' HOUR))
GROUP BY product, window_start, window_end;
