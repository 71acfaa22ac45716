INSERT INTO totals SELECT /*+ STATE_TTL('x' = '1d') */ a.customer, a.amount FROM orders a JOIN orders b ON a.id = b.id;
