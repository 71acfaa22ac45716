CREATE TABLE x (id INT, value STRING) WITH ('connector' = 'print');
