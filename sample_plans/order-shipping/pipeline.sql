-- How each order ships: the regular join whose two sides may keep their state for different times.
CREATE TABLE Orders (
  `order_id` INT,
  `line_order_id` INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/orders.json',
  'format' = 'json'
);

CREATE TABLE LineOrders (
  `line_order_id` INT,
  `ship_mode` STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/line_orders.json',
  'format' = 'json'
);

CREATE TABLE OrdersShipInfo (
  `order_id` INT,
  `line_order_id` INT,
  `ship_mode` STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/order-shipping',
  'format' = 'json'
);

INSERT INTO OrdersShipInfo
SELECT a.order_id, a.line_order_id, b.ship_mode
FROM Orders a JOIN LineOrders b
  ON a.line_order_id = b.line_order_id;
