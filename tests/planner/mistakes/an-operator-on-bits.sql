INSERT INTO totals SELECT customer, amount FROM orders WHERE id & 1 = 0;
