INSERT INTO totals SELCT customer, amount FROM orders;
