-- a line must have as many fields as are read of it; a blank one has one, or is skipped where comments are
CREATE TABLE t (a STRING, b STRING, c DOUBLE) WITH (
  'connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'csv'
);
CREATE TABLE lenient (a INT, b STRING, c DOUBLE) WITH (
  'connector' = 'filesystem', 'path' = '${CASE}/data/t', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true'
);
CREATE TABLE commented (a INT, b STRING, c DOUBLE) WITH (
  'connector' = 'filesystem', 'path' = '${CASE}/data/c', 'format' = 'csv', 'csv.allow-comments' = 'true'
);
CREATE TABLE thirds (c DOUBLE) WITH ('connector' = 'filesystem', 'path' = '${CASE}/out/thirds', 'format' = 'json');
CREATE TABLE whole (a INT, b STRING, c DOUBLE) WITH (
  'connector' = 'filesystem', 'path' = '${CASE}/out/whole', 'format' = 'json'
);
CREATE TABLE bare (a INT, b STRING, c DOUBLE) WITH (
  'connector' = 'filesystem', 'path' = '${CASE}/out/bare', 'format' = 'json'
);
EXECUTE STATEMENT SET BEGIN
INSERT INTO thirds SELECT c FROM t;
INSERT INTO whole SELECT * FROM lenient;
INSERT INTO bare SELECT * FROM commented;
END;
