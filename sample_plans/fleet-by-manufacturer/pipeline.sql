-- The planes seen in New York, by manufacturer: COUNT(DISTINCT …) and a filter on an aggregate's result.
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

CREATE TABLE planes (
  tailnum STRING,
  `year` INT,
  type STRING,
  manufacturer STRING,
  model STRING,
  engines INT,
  seats INT,
  speed INT,
  engine STRING,
  PRIMARY KEY (tailnum) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/planes.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

CREATE TABLE fleet (
  manufacturer STRING,
  planes BIGINT,
  flights BIGINT,
  seats_flown BIGINT,
  oldest INT,
  PRIMARY KEY (manufacturer) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/fleet-by-manufacturer',
  'format' = 'debezium-json'
);

INSERT INTO fleet
SELECT p.manufacturer, COUNT(DISTINCT f.tailnum), COUNT(*), SUM(CAST(p.seats AS BIGINT)), MIN(p.`year`)
FROM flights AS f
JOIN planes AS p ON f.tailnum = p.tailnum
WHERE f.dep_time IS NOT NULL
GROUP BY p.manufacturer
HAVING COUNT(*) >= 10;
