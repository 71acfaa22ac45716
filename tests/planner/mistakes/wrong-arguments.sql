INSERT INTO totals SELECT UPPER(amount), amount FROM orders;
