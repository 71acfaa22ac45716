INSERT INTO totals SELECT customer, amount FROM orders;
INSERT INTO totals SELECT customer, amount FROM orders;
