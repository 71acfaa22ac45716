CREATE TABLE x (ts STRING, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'print');
