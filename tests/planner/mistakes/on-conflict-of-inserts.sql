INSERT INTO journal SELECT id, customer, amount FROM orders ON CONFLICT DO ERROR;
