INSERT INTO totals (customer, totl) SELECT customer, amount FROM orders;
