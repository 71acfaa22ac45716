INSERT INTO totals SELECT user, amount FROM orders;
