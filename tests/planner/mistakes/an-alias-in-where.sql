INSERT INTO totals SELECT UPPER(customer) AS name, amount FROM orders WHERE name = 'A';
