INSERT INTO totals SELECT customer amount total FROM orders;
