INSERT INTO totals SELECT customer, amount FROM order;
