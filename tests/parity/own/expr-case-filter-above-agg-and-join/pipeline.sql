CREATE TABLE orders (id INT, cust STRING, cat STRING, amt DECIMAL(10,2), qty INT, paid BOOLEAN, odate DATE)
WITH ('connector'='filesystem', 'path'='${CASE}/data/orders', 'format'='json');
CREATE TABLE dep (dept INT, dname STRING, city STRING)
WITH ('connector'='filesystem', 'path'='${CASE}/data/dep', 'format'='json');
CREATE TABLE o (cust STRING, m INT)
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='debezium-json');
CREATE TABLE p (id INT, dname STRING)
WITH ('connector'='filesystem', 'path'='${CASE}/out/p', 'format'='debezium-json');
CREATE TABLE q (id INT, ok BOOLEAN)
WITH ('connector'='filesystem', 'path'='${CASE}/out/q', 'format'='json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO o SELECT cust, m FROM (SELECT cust, MAX(qty) AS m, COUNT(*) AS n FROM orders GROUP BY cust) WHERE CASE WHEN n > 1 THEN m ELSE 0 END >= 1;
INSERT INTO p SELECT id, dname FROM orders LEFT JOIN dep ON qty = dept AND CASE WHEN paid THEN amt ELSE 0 END > 1;
INSERT INTO q SELECT id, NULLIF(cat, 'toys') IS NULL FROM orders WHERE COALESCE(NULLIF(cust, 'bob'), 'x') <> 'x' OR IF(paid, qty, 1) > 2;
END;
