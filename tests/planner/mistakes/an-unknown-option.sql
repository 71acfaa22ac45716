CREATE TABLE x (id INT) WITH ('connector' = 'filesystem', 'pth' = 'x', 'format' = 'json');
INSERT INTO x SELECT id FROM orders;
