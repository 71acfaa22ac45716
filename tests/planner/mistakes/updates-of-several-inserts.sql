EXECUTE STATEMENT SET BEGIN
INSERT INTO totals SELECT customer, SUM(amount) FROM orders GROUP BY customer;
INSERT INTO totals SELECT customer, amount FROM orders;
INSERT INTO totals SELECT customer, MAX(amount) FROM orders GROUP BY customer;
END;
