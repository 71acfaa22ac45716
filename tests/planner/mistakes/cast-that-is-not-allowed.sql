INSERT INTO totals SELECT CAST(ts AS INT), amount FROM orders;
