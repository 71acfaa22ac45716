EXECUTE STATEMENT SET BEGIN
INSERT INTO totals SELECT custommer, amount FROM orders;
INSERT INTO totals SELECT customer, amount FROM ordrs;
END;
