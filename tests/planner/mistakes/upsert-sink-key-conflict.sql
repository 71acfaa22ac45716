INSERT INTO journal SELECT id, customer, SUM(amount) FROM orders GROUP BY id, customer;
