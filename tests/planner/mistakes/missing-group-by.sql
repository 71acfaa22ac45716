INSERT INTO totals SELECT customer, amount, COUNT(*) FROM orders GROUP BY customer;
