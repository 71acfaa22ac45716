CREATE TEMPORARY FUNCTION f AS 'com.acme.MyFunction'; INSERT INTO totals SELECT f(customer), amount FROM orders;
