INSERT INTO totals SELECT customer, SUM(n) FROM TABLE(TUMBLE(TABLE counts, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, customer;
