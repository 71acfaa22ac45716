CREATE VIEW v AS SELECT id, customer, amount AS id FROM orders;
