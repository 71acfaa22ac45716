INSERT INTO totals SELECT customer, amount FROM orders HAVING amount > 1;
