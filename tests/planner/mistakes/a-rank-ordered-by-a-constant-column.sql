INSERT INTO totals SELECT customer, amount FROM (SELECT customer, amount, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY z) AS rn FROM (SELECT customer, amount, 3 AS z FROM orders)) WHERE rn <= 2;
