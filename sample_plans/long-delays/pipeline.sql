-- Delays over four hours, at either end of a flight: UNION ALL in a view, joined with the airports;
-- those over ten hours are printed as well.
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
  'path' = '${DATA}/flights.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

CREATE TABLE airports (
  faa STRING,
  name STRING,
  lat DOUBLE,
  lon DOUBLE,
  alt INT,
  tz INT,
  dst STRING,
  tzone STRING,
  PRIMARY KEY (faa) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/airports.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

CREATE TABLE printed (
  happened STRING,
  sched_dep TIMESTAMP(3),
  flight STRING,
  airport STRING,
  hours_late DOUBLE
) WITH (
  'connector' = 'print',
  'print-identifier' = 'long delay'
);

CREATE TABLE long_delays (
  happened STRING,
  sched_dep TIMESTAMP(3),
  flight STRING,
  airport STRING,
  hours_late DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/long-delays',
  'format' = 'json'
);

CREATE TEMPORARY VIEW delays AS
SELECT 'departure' AS happened, sched_dep, carrier, flight, origin AS airport, dep_delay AS delay
FROM flights
UNION ALL
SELECT 'arrival', sched_dep, carrier, flight, dest, arr_delay
FROM flights;

EXECUTE STATEMENT SET
BEGIN
  INSERT INTO printed
  SELECT happened, sched_dep, carrier || CAST(flight AS STRING), airport, ROUND(delay / 60.0e0, 1)
  FROM delays
  WHERE delay > 600;

  INSERT INTO long_delays
  SELECT d.happened, d.sched_dep, d.carrier || CAST(d.flight AS STRING), a.name, ROUND(d.delay / 60.0e0, 1)
  FROM delays AS d
  JOIN airports AS a ON d.airport = a.faa
  WHERE d.delay > 240;
END;
