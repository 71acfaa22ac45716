INSERT INTO totals SELECT customer, LAST(amount) FROM orders;
