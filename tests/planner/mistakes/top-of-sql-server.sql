INSERT INTO totals SELECT TOP 10 customer, amount FROM orders;
