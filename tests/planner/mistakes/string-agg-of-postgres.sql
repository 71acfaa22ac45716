INSERT INTO totals SELECT STRING_AGG(customer, ','), amount FROM orders GROUP BY amount;
