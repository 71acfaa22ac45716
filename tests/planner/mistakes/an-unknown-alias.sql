INSERT INTO totals SELECT c.customer, o.amount FROM orders o;
