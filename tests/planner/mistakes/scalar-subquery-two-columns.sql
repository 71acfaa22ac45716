INSERT INTO totals SELECT (SELECT id, amount FROM orders), amount FROM orders;
