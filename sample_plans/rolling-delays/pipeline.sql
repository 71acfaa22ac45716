-- Delays of the last three hours, renewed each hour: a hopping event-time window per airport.
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
  'path' = '${DATA}/flights.json',
  'format' = 'json'
);

CREATE TABLE rolling_delays (
  origin STRING,
  since TIMESTAMP(3),
  till TIMESTAMP(3),
  departed BIGINT,
  minutes_late INT,
  average_delay INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/rolling-delays',
  'format' = 'json'
);

INSERT INTO rolling_delays
SELECT origin, window_start, window_end, COUNT(*), SUM(dep_delay), AVG(dep_delay)
FROM TABLE(HOP(TABLE flights, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR, INTERVAL '3' HOUR))
WHERE dep_delay IS NOT NULL
GROUP BY window_start, window_end, origin;
