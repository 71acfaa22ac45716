INSERT INTO totals SELECT customer, amount FROM orders WHERE ts > ts - INTERVAL '100' DAY;
