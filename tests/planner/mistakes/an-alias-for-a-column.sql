INSERT INTO totals SELECT amount total FROM orders;
