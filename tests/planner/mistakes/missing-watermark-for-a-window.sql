INSERT INTO totals SELECT customer, SUM(amount) FROM TABLE(TUMBLE(TABLE archive, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, customer;
