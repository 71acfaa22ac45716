-- The day's totals every six hours, then from zero: a cumulating event-time window, also written as CSV.
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

CREATE TABLE day_so_far (
  origin STRING,
  `day` TIMESTAMP(3),
  till TIMESTAMP(3),
  flights BIGINT,
  planes BIGINT,
  cancelled BIGINT,
  miles BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/day-so-far',
  'format' = 'csv'
);

CREATE TEMPORARY VIEW departures AS
SELECT sched_dep, origin, tailnum, dep_time, CAST(distance AS BIGINT) AS distance
FROM flights;

INSERT INTO day_so_far
SELECT
  origin,
  window_start,
  window_end,
  COUNT(*),
  COUNT(DISTINCT tailnum),
  COUNT(*) - COUNT(dep_time),
  SUM(distance)
FROM TABLE(CUMULATE(TABLE departures, DESCRIPTOR(sched_dep), INTERVAL '6' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end, origin;
