INSERT INTO total SELECT customer, amount FROM orders;
