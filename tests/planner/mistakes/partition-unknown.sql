INSERT INTO totals PARTITION (day = '1') SELECT customer, amount FROM orders;
