-- How late each airline arrives: a regular join with a small table, then an updating group aggregation.
CREATE TABLE flights (
  sched_dep TIMESTAMP(3),
  dep_time TIMESTAMP(3),
  dep_delay INT,
  arr_delay INT,
  carrier STRING,
  flight INT,
  tailnum STRING,
  origin STRING,
  dest STRING,
  air_time INT,
  distance INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/flights.json',
  'format' = 'json'
);

CREATE TABLE airlines (
  carrier STRING,
  name STRING,
  PRIMARY KEY (carrier) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/airlines.csv',
  'format' = 'csv'
);

CREATE TABLE delays_by_carrier (
  airline STRING,
  flights BIGINT,
  arrived BIGINT,
  minutes_late INT,
  average_delay DOUBLE,
  earliest INT,
  latest INT,
  PRIMARY KEY (airline) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/delays-by-carrier',
  'format' = 'debezium-json'
);

INSERT INTO delays_by_carrier
SELECT
  a.name,
  COUNT(*),
  COUNT(f.arr_delay),
  SUM(f.arr_delay),
  AVG(CAST(f.arr_delay AS DOUBLE)),
  MIN(f.arr_delay),
  MAX(f.arr_delay)
FROM flights AS f
JOIN airlines AS a ON f.carrier = a.carrier
GROUP BY a.name;
