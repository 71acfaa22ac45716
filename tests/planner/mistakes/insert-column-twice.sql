INSERT INTO totals (customer, customer) SELECT customer, amount FROM orders;
