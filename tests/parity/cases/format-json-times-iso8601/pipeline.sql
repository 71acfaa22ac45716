-- times in many spellings where ISO-8601 is wanted
CREATE TABLE t (id INT, dt DATE, t TIME(0), t3 TIME(3), p TIMESTAMP(3), p9 TIMESTAMP(9), z TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'json', 'json.ignore-parse-errors' = 'true', 'json.timestamp-format.standard' = 'ISO-8601');
CREATE TABLE o (id INT, dt DATE, t TIME(0), t3 TIME(3), p TIMESTAMP(3), p9 TIMESTAMP(9), z TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'json');
INSERT INTO o SELECT * FROM t;
