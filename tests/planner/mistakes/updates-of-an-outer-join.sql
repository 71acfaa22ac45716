INSERT INTO totals SELECT a.customer, b.amount FROM orders a LEFT JOIN orders b ON a.id = b.id;
