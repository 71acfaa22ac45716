-- Where each plane went last: deduplication by ROW_NUMBER that keeps a plane's latest flight,
-- and forgets a plane that has not flown for a week.
SET 'table.exec.state.ttl' = '7 d';

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

CREATE TABLE last_flight (
  tailnum STRING,
  carrier STRING,
  flight INT,
  origin STRING,
  dest STRING,
  sched_dep TIMESTAMP(3),
  PRIMARY KEY (tailnum) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/last-flight-per-plane',
  'format' = 'debezium-json'
);

INSERT INTO last_flight
SELECT tailnum, carrier, flight, origin, dest, sched_dep
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY tailnum ORDER BY sched_dep DESC) AS row_num
  FROM flights
  WHERE dep_time IS NOT NULL
)
WHERE row_num = 1;
