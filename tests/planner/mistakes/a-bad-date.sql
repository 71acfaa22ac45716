INSERT INTO totals SELECT customer, amount FROM orders WHERE ts > TIMESTAMP '2024-13-01 00:00:00';
