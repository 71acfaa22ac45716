INSERT INTO totals SELECT UPPER(customer, amount FROM orders;
