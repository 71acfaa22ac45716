INSERT INTO totals SELECT customer.name, amount FROM orders;
