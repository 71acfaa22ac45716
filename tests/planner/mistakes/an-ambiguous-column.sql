INSERT INTO totals SELECT customer, amount FROM orders a JOIN orders b ON a.id = b.id;
