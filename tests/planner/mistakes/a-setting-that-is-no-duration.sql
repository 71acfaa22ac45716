SET 'table.exec.state.ttl' = 'yes';
INSERT INTO totals SELECT customer, amount FROM orders;
