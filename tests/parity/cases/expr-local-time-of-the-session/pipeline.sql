-- The session that executes the plan says the time zone; no node of the plan does.
SET 'table.local-time-zone' = 'America/New_York';
CREATE TABLE t (id INT, ts TIMESTAMP_LTZ(3)) WITH ('connector'='filesystem','path'='${CASE}/data/t','format'='json');
CREATE TABLE o (id INT, s STRING, t TIMESTAMP(3), h BIGINT) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='json');
INSERT INTO o SELECT id, CAST(ts AS STRING), CAST(ts AS TIMESTAMP(3)), EXTRACT(HOUR FROM ts) FROM t;
