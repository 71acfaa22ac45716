CREATE TABLE x (id INT) WITH ('connector' = 'filesytem', 'path' = 'x', 'format' = 'json');
INSERT INTO x SELECT id FROM orders;
