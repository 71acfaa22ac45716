INSERT INTO totals SELECT customer, SUM(amount) AS total FROM orders GROUP BY customer HAVING total > 1;
