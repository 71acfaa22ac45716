INSERT INTO totals SELECT customer, amount FROM orders UNION ALL SELECT customer FROM orders;
