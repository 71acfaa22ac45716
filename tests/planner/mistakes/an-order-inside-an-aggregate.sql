INSERT INTO journal SELECT MAX(id), JSON_ARRAYAGG(customer ORDER BY ts), SUM(amount) FROM orders;
