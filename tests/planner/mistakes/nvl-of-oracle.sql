INSERT INTO totals SELECT NVL(customer, 'none'), amount FROM orders;
