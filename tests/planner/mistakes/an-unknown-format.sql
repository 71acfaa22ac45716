CREATE TABLE x (id INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'jsno');
INSERT INTO x SELECT id FROM orders;
