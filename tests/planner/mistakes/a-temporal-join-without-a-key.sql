INSERT INTO totals SELECT o.customer, r.amount FROM orders o JOIN orders FOR SYSTEM_TIME AS OF o.ts AS r ON o.customer = r.customer;
