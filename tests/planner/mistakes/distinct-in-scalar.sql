INSERT INTO totals SELECT UPPER(DISTINCT customer), amount FROM orders;
