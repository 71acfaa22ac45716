CREATE TABLE x (id INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json', 'json.ignore-parse-error' = 'true');
INSERT INTO x SELECT id FROM orders;
