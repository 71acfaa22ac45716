-- A join by a DOUBLE with 0.0 and -0.0, which are two keys, and NULL, which is none.
CREATE TABLE orders (id INT, cust INT, amount DECIMAL(10,2), qty INT, status STRING, price DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH ('connector'='filesystem','path'='${CASE}/data/orders','format'='json');
CREATE TABLE o (a INT, b INT, p DOUBLE) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='debezium-json');
INSERT INTO o SELECT x.id, y.id, x.price FROM orders x JOIN orders y ON x.price = y.price AND x.id < y.id WHERE x.qty > 6;
