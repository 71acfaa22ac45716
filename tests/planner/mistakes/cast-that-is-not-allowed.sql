INSERT INTO totals SELECT CAST(ts AS BOOLEAN), amount FROM orders;
