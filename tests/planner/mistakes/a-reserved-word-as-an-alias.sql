INSERT INTO totals SELECT customer AS year, amount FROM orders;
