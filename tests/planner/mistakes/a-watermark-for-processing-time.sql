CREATE TABLE pings (id INT, seen AS PROCTIME(), WATERMARK FOR seen AS seen - INTERVAL '1' SECOND) WITH ('connector' = 'datagen');
INSERT INTO totals SELECT 'a', id FROM pings;
