CREATE TABLE x (line STRING) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'raw', 'raw.charset' = 'KLINGON');
INSERT INTO x SELECT customer FROM orders;
