
CREATE TABLE nest (id INT, a ARRAY<INT>, m MAP<STRING,INT>, r ROW<x INT, y STRING>, ra ARRAY<ROW<x INT, y STRING>>) WITH ('connector'='filesystem','path'='${CASE}/data/nest','format'='json');
CREATE TABLE o (c0 INT, c1 INT, c2 ARRAY<STRING>, c3 ARRAY<INT>, c4 ARRAY<ROW<`key` STRING, `value` INT>>, c5 INT, c6 INT, c7 STRING, c8 STRING, c9 MAP<STRING, INT>, c10 MAP<CHAR(1), INT>, c11 BOOLEAN) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='debezium-json');
INSERT INTO o SELECT id, m['k'], MAP_KEYS(m), MAP_VALUES(m), MAP_ENTRIES(m), CARDINALITY(m), r.x, r.y, ra[1].y, MAP_UNION(m, MAP['z', 3]), MAP_FROM_ARRAYS(ARRAY['p', 'q'], ARRAY[1, 2]), (r.x IS NULL) FROM nest;
