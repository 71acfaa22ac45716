INSERT INTO totals SELECT customer, SUM(amount) OVER (PARTITION BY customer ORDER BY amount) FROM orders;
