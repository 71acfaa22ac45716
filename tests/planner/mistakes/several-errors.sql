CREATE TABLE x (id INTEGR, value STRING) WITH ('connector' = 'print');
INSERT INTO totals SELCT customer FROM orders;
CREATE VIEW v AS SELECT id FROM orders WHERE;
