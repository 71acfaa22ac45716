INSERT INTO totals SELECT amount, customer FROM orders;
