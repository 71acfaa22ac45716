SET 'table.local-time-zone' = 'America/Sao_Paulo';
CREATE TABLE orders (id BIGINT, cust INT, item STRING, qty INT, price DECIMAL(12,3), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/orders', 'format' = 'json');
CREATE TABLE res (id BIGINT, a STRING, b TIMESTAMP_LTZ(3), c BOOLEAN, d STRING) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/res', 'format' = 'json');
INSERT INTO res SELECT id, CAST(TO_TIMESTAMP_LTZ(1710000000123,3) AS STRING), TO_TIMESTAMP_LTZ(1710000000,0), TO_TIMESTAMP_LTZ(1710061204500,3) < ts, DATE_FORMAT(TO_TIMESTAMP_LTZ(0,3),'HH') FROM orders;
