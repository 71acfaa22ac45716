INSERT OVERWRITE journal SELECT id, customer, amount FROM orders;
