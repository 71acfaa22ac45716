SET 'table.exec.mini-batch.enabled' = 'maybe';
INSERT INTO totals SELECT customer, amount FROM orders;
