CREATE VIEW v AS SELECT idd FROM orders;
CREATE TABLE x (id INT, ts TIMESTAMP(3), WATERMARK FOR att AS ts) WITH ('connector' = 'print');
EXECUTE STATEMENT SET BEGIN
INSERT INTO totals SELECT customer, idd FROM v;
INSERT INTO totals SELECT custm, amount FROM orders;
INSERT INTO x SELECT id FROM orders;
INSERT INTO totals SELECT customer, amount FROM ordrs;
END;
