-- An airport's departure board from a database's changes, into two sinks of one job.
CREATE TABLE board (
  flight STRING,
  dest STRING,
  sched_dep TIMESTAMP(3),
  status STRING,
  delay INT,
  PRIMARY KEY (flight) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/departure_board.json',
  'format' = 'debezium-json'
);

CREATE TABLE late_departures (
  flight STRING,
  dest STRING,
  sched_dep TIMESTAMP(3),
  delay INT,
  PRIMARY KEY (flight) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/late-departures',
  'format' = 'debezium-json'
);

CREATE TABLE status_counts (
  status STRING,
  flights BIGINT,
  destinations BIGINT,
  worst_delay INT,
  PRIMARY KEY (status) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/status-counts',
  'format' = 'debezium-json'
);

EXECUTE STATEMENT SET
BEGIN
  INSERT INTO late_departures
  SELECT flight, dest, sched_dep, delay
  FROM board
  WHERE status = 'departed' AND delay > 15;

  INSERT INTO status_counts
  SELECT status, COUNT(*), COUNT(DISTINCT dest), MAX(delay)
  FROM board
  GROUP BY status;
END;
