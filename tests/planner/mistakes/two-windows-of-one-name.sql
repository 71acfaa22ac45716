INSERT INTO totals SELECT customer, SUM(amount) OVER w FROM orders
WINDOW w AS (ORDER BY ts), w AS (PARTITION BY customer ORDER BY ts);
