-- LISTAGG with a delimiter in two phases, over rows that are taken back.
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '1 s';
SET 'table.exec.mini-batch.size' = '4';
SET 'table.optimizer.agg-phase-strategy' = 'TWO_PHASE';
CREATE TABLE cdc (id INT, g STRING, v INT)
WITH ('connector'='filesystem', 'path'='${CASE}/data/cdc', 'format'='debezium-json');
CREATE TABLE o (g STRING, l STRING)
WITH ('connector'='filesystem', 'path'='${CASE}/out/o', 'format'='debezium-json');
INSERT INTO o SELECT g, LISTAGG(CAST(v AS STRING), ';') FROM cdc GROUP BY g;
