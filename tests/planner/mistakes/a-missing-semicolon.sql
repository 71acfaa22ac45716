CREATE TABLE x (id INT) WITH ('connector' = 'print')
INSERT INTO x SELECT id FROM orders;
