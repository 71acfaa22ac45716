-- arrays and nested rows in one field, malformed ones ignored
CREATE TABLE t (id INT, xs ARRAY<INT>, ss ARRAY<STRING>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true');
CREATE TABLE o (id INT, xs ARRAY<INT>, ss ARRAY<STRING>, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT * FROM t;
