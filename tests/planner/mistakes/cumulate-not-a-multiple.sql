INSERT INTO totals SELECT customer, SUM(amount) FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '7' MINUTE, INTERVAL '1' HOUR)) GROUP BY customer, window_start, window_end;
