INSERT INTO totals SELECT customer, CAST(PERCENTILE(amount, 95) AS DECIMAL(38, 2)) FROM orders GROUP BY customer;
