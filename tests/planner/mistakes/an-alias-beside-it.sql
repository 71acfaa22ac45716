INSERT INTO totals SELECT UPPER(customer) AS name, CHAR_LENGTH(name) FROM orders;
