CREATE TABLE pings (id INT, sent TIMESTAMP(3), WATERMARK FOR sent AS PROCTIME()) WITH ('connector' = 'datagen');
INSERT INTO totals SELECT 'a', id FROM pings;
