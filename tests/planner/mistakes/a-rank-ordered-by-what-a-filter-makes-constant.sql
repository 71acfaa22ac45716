INSERT INTO totals SELECT customer, amount FROM (SELECT customer, amount, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount) AS rn FROM orders WHERE amount = 3) WHERE rn <= 2;
