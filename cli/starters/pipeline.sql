-- A pipeline: tables, then one INSERT (or EXECUTE STATEMENT SET BEGIN ... END).
--
--   flinkplan compile pipeline.sql -o plan.json      the plan, to be kept in git
--   flinkplan explain plan.json                its operators, states and TTLs
--   flinkplan execute plan.json --var DATA=data --var OUT=out

-- How long state is kept after its last use; a plan can say it for each state: flinkplan ttl plan.json
SET 'table.exec.state.ttl' = '1 d';

CREATE TABLE orders (
  order_id   BIGINT,
  product    STRING,
  amount     DECIMAL(10, 2),
  order_time TIMESTAMP(3),
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

INSERT INTO sales_per_hour
SELECT product, window_start, COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' HOUR))
GROUP BY product, window_start, window_end;
