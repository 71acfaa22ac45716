CREATE TABLE x (id INT, id STRING) WITH ('connector' = 'print');
