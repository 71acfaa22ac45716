INSERT INTO totals SELECT GROUP_CONCAT(customer SEPARATOR ','), amount FROM orders GROUP BY amount;
