CREATE TABLE x (id INT, age INTERVAL DAY) WITH ('connector' = 'print');
