-- A Top-N in overlapping windows without a key, of which each row is in three and some come too late for the first.
CREATE TABLE orders (id INT, cust INT, amount DECIMAL(10,2), qty INT, status STRING, price DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH ('connector'='filesystem','path'='${CASE}/data/orders','format'='json');
CREATE TABLE o (s TIMESTAMP(3), e TIMESTAMP(3), id INT, rn BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='json');
INSERT INTO o SELECT window_start, window_end, id, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY qty DESC, id) rn FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE))) WHERE rn <= 3;
