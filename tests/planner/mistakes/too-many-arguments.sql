INSERT INTO totals SELECT customer, ROUND(amount, 2, 3) FROM orders;
