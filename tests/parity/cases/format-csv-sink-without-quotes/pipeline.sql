-- no quotes, and a literal for NULL
CREATE TABLE t (id INT, s STRING, n INT, d DOUBLE, dc DECIMAL(10,2), b BOOLEAN, dt DATE, tm TIME(0), ts TIMESTAMP(3), by2 BYTES, xs ARRAY<INT>, ss ARRAY<STRING>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'json');
CREATE TABLE o (id INT, s STRING, n INT, d DOUBLE, dc DECIMAL(10,2), b BOOLEAN, dt DATE, tm TIME(0), ts TIMESTAMP(3), by2 BYTES, xs ARRAY<INT>, ss ARRAY<STRING>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'csv', 'csv.disable-quote-character' = 'true', 'csv.escape-character' = '\', 'csv.null-literal' = 'n/a');
INSERT INTO o SELECT * FROM t;
