INSERT INTO totals SELECT customer, amount FROM orders /*+ OPTIONS(path) */;
