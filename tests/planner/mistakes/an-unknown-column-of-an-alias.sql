INSERT INTO totals SELECT o.customer, o.amont FROM orders o;
