INSERT INTO totals SELECT customer, amount FROM orders WHERE '1' = 1;
