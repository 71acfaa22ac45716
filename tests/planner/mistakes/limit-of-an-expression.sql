INSERT INTO totals SELECT customer, amount FROM orders LIMIT amount;
