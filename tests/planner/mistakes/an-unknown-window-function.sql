INSERT INTO totals SELECT customer, SUM(amount) FROM TABLE(TUMBEL(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, customer;
