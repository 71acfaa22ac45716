INSERT INTO totals SELECT customer, amount FROM orders WHERE DATE_TRUNC('day', ts) > ts;
