CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME()) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/s', 'format' = 'json', 'source.monitor-interval' = '1 s'
);
CREATE TABLE o (k STRING, v INT, f INT, l INT, x STRING) WITH ('connector' = 'print');
INSERT INTO o
SELECT k, v, FIRST_VALUE(v) OVER w, LAST_VALUE(v) OVER w, LISTAGG(CAST(v AS STRING)) OVER w FROM s WINDOW w AS (PARTITION BY k ORDER BY pt ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);
