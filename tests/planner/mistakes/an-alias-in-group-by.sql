INSERT INTO totals SELECT UPPER(customer) AS name, SUM(amount) FROM orders GROUP BY name;
