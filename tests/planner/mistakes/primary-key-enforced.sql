CREATE TABLE x (id INT PRIMARY KEY) WITH ('connector' = 'print');
