INSERT INTO totals SELECT /*+ STATE_TTL('a' = '1 month') */ a.customer, a.amount FROM orders a JOIN orders b ON a.id = b.id;
