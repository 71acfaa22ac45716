CREATE TABLE orders (id INT, cust INT, amount DECIMAL(10,2), qty INT, status STRING, price DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH ('connector'='filesystem','path'='${CASE}/data/orders','format'='json');
CREATE TABLE customers (cust INT, name STRING, region STRING) WITH ('connector'='filesystem','path'='${CASE}/data/customers','format'='json');
CREATE TABLE payments (pid INT, oid INT, paid DECIMAL(8,2), `method` STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '30' SECOND) WITH ('connector'='filesystem','path'='${CASE}/data/payments','format'='json');
CREATE TABLE docs (k INT, doc STRING, tags ARRAY<STRING>, attrs MAP<STRING, INT>) WITH ('connector'='filesystem','path'='${CASE}/data/docs','format'='json');
CREATE TABLE scores (cust INT, score INT, tier STRING, PRIMARY KEY (cust) NOT ENFORCED) WITH ('connector'='filesystem','path'='${CASE}/data/scores','format'='debezium-json');
CREATE TABLE o (s TIMESTAMP(3), a INT, b INT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='json');
INSERT INTO o SELECT a.window_start, a.id, b.id FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))) a JOIN (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE))) b ON a.window_start=b.window_start AND a.window_end=b.window_end AND a.id < b.id AND a.qty=b.qty;
