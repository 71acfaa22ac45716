INSERT INTO totals SELECT customer->>'$.a', amount FROM orders;
