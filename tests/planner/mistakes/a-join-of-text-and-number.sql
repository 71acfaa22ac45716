INSERT INTO totals SELECT customer, amount FROM orders JOIN rates ON id = currency;
