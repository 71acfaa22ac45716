INSERT INTO totals SELECT customer, amount FROM orders, rates WHERE id = currency;
