-- values of other types than the columns, arrays of rows, and malformed messages ignored
CREATE TABLE t (id INT, s STRING, n INT, d DOUBLE, dc DECIMAL(10,2), b BOOLEAN, r ROW<a INT, b STRING>, xs ARRAY<INT>, m MAP<STRING, INT>) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'json', 'json.ignore-parse-errors' = 'true');
CREATE TABLE o (id INT, s STRING, n INT, d DOUBLE, dc DECIMAL(10,2), b BOOLEAN, r ROW<a INT, b STRING>, xs ARRAY<INT>, m MAP<STRING, INT>) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT * FROM t;
