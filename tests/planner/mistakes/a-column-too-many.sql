INSERT INTO totals SELECT customer, amount, id FROM orders;
