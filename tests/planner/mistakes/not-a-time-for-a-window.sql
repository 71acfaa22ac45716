INSERT INTO totals SELECT customer, SUM(amount) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(amount), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, customer;
