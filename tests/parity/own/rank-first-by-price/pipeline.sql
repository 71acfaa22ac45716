-- the cheapest bid of each item, by two columns and by one, into a changelog and into plain JSON
CREATE TABLE bids (
  id INT,
  item STRING,
  price DECIMAL(8,2),
  bts TIMESTAMP(3),
  note STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${CASE}/data/bids',
  'format' = 'json'
);
CREATE TABLE o (
  item STRING,
  id INT,
  price DECIMAL(8,2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${CASE}/out/o',
  'format' = 'debezium-json'
);
CREATE TABLE o2 (
  item STRING,
  price DECIMAL(8,2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${CASE}/out/o2',
  'format' = 'json'
);
CREATE TABLE o3 (
  item STRING,
  id INT,
  price DECIMAL(8,2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${CASE}/out/o3',
  'format' = 'debezium-json'
);
EXECUTE STATEMENT SET BEGIN
INSERT INTO o SELECT item, id, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price) AS rn FROM bids) WHERE rn = 1;
INSERT INTO o2 SELECT item, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price, id) AS rn FROM bids) WHERE rn = 1;
INSERT INTO o3 SELECT item, id, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC, id) AS rn FROM bids) WHERE rn = 1;
END;
