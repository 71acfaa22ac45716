INSERT INTO totals SELECT customer, amount FROM orders WHERE SUM(amount) > 1;
