-- Departures of each hour and airport: a tumbling event-time window over a month of flights.
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
  distance INT,
  WATERMARK FOR sched_dep AS sched_dep - INTERVAL '1' MINUTE
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/flights.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

CREATE TABLE hourly_departures (
  window_start TIMESTAMP(3),
  origin STRING,
  scheduled BIGINT,
  departed BIGINT,
  avg_delay DOUBLE,
  max_delay INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/hourly-departures',
  'format' = 'json'
);

INSERT INTO hourly_departures
SELECT
  window_start,
  origin,
  COUNT(*),
  COUNT(dep_time),
  ROUND(AVG(CAST(dep_delay AS DOUBLE)), 1),
  MAX(dep_delay)
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, origin;
