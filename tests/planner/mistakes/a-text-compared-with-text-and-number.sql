INSERT INTO totals SELECT customer, amount FROM orders WHERE customer = 1 OR customer = 'a';
