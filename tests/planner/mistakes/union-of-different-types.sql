INSERT INTO totals SELECT customer, amount FROM orders UNION ALL SELECT amount, customer FROM orders;
