INSERT INTO totals SELECT customer, amount FROM orders WHERE customer == 'a';
