CREATE OR ALTER TABLE t (a INT) WITH ('connector' = 'print');
