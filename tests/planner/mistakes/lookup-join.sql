INSERT INTO totals SELECT o.customer, o.amount FROM orders o JOIN rates FOR SYSTEM_TIME AS OF o.ts r ON o.customer = r.currency;
