-- The same calls of JSON functions in the projection and in the condition.
CREATE TABLE docs (k INT, doc STRING, tags ARRAY<STRING>, attrs MAP<STRING, INT>) WITH ('connector'='filesystem','path'='${CASE}/data/docs','format'='json');
CREATE TABLE o (k INT, a INT, c STRING, x BOOLEAN) WITH ('connector'='filesystem','path'='${CASE}/out/o','format'='json');
INSERT INTO o SELECT k, CAST(JSON_VALUE(doc, '$.a') AS INT), COALESCE(JSON_VALUE(doc, '$.b.c'), JSON_VALUE(doc, '$.a'), 'none'), JSON_EXISTS(doc, '$.b') FROM docs WHERE doc IS JSON AND (JSON_VALUE(doc, '$.a') IS NULL OR JSON_VALUE(doc, '$.a') <> '5');
