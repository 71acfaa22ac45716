CREATE TABLE orders (id INT) WITH ('connector' = 'print');
