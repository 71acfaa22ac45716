-- Flights an hour late or more, with the weather at the airport: a computed column as a join key.
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
  sched_hour AS FLOOR(sched_dep TO HOUR)
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/flights.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

CREATE TABLE weather (
  origin STRING,
  observed TIMESTAMP(3),
  temp DOUBLE,
  wind_speed DOUBLE,
  precip DOUBLE,
  visib DOUBLE,
  PRIMARY KEY (origin, observed) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/weather.json',
  'format' = 'json'
);

CREATE TABLE late_in_bad_weather (
  sched_dep TIMESTAMP(3),
  carrier STRING,
  flight INT,
  origin STRING,
  dest STRING,
  dep_delay INT,
  temp_celsius DOUBLE,
  wind_speed DOUBLE,
  precip DOUBLE,
  visib DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/flights-with-weather',
  'format' = 'json'
);

INSERT INTO late_in_bad_weather
SELECT
  f.sched_dep,
  f.carrier,
  f.flight,
  f.origin,
  f.dest,
  f.dep_delay,
  ROUND((w.temp - 32) * 5 / 9, 1),
  w.wind_speed,
  w.precip,
  w.visib
FROM flights AS f
JOIN weather AS w ON f.origin = w.origin AND f.sched_hour = w.observed
WHERE f.dep_delay >= 60 AND (w.visib < 5 OR w.wind_speed > 25 OR w.precip > 0);
