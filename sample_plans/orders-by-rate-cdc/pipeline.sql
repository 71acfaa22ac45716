-- Orders in euros by the rate of the moment: a processing-time temporal join with a table of PostgreSQL.
-- Orders wait until its snapshot has been read (FLIP-326); from then on each change in the database counts.
SET 'table.exec.temporal-join.processing-time' = 'wait-for-snapshot';
SET 'table.exec.sink.require-on-conflict' = 'false';

CREATE TABLE orders (
  id INT,
  currency STRING,
  amount DECIMAL(10, 2),
  ordered AS PROCTIME()
) WITH (
  'connector' = 'kafka',
  'topic' = 'orders',
  'format' = 'json',
  'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${BROKERS}'
);

CREATE TABLE rates (
  `day` DATE,
  currency STRING,
  rate DECIMAL(10, 4),
  PRIMARY KEY (currency) NOT ENFORCED
) WITH (
  'connector' = 'postgres-cdc',
  'hostname' = '${DB_HOST}',
  'port' = '${DB_PORT}',
  'username' = '${DB_USER}',
  'password' = '${DB_PASSWORD}',
  'database-name' = 'postgres',
  'schema-name' = 'public',
  'table-name' = 'rates',
  'slot.name' = 'orders_by_rate',
  'decoding.plugin.name' = 'pgoutput',
  'changelog-mode' = 'upsert',
  'scan.incremental.snapshot.enabled' = 'true',
  'scan.incremental.snapshot.chunk.size' = '2'
);

CREATE TABLE converted (
  id INT PRIMARY KEY NOT ENFORCED,
  amount DECIMAL(10, 2),
  currency STRING,
  `day` DATE,
  euros DECIMAL(10, 2)
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'converted',
  'key.format' = 'json',
  'value.format' = 'json',
  'properties.bootstrap.servers' = '${BROKERS}'
);

CREATE TABLE turnover (
  currency STRING PRIMARY KEY NOT ENFORCED,
  orders BIGINT,
  euros DECIMAL(10, 2)
) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:derby:${OUT}/shop',
  'table-name' = 'turnover'
);

CREATE VIEW in_euros AS
SELECT o.id, o.amount, o.currency, r.`day`, CAST(o.amount / r.rate AS DECIMAL(10, 2)) AS euros
FROM orders AS o
JOIN rates FOR SYSTEM_TIME AS OF o.ordered AS r ON o.currency = r.currency;

EXECUTE STATEMENT SET BEGIN
  INSERT INTO converted SELECT id, amount, currency, `day`, euros FROM in_euros;
  INSERT INTO turnover SELECT currency, COUNT(*), CAST(SUM(euros) AS DECIMAL(10, 2)) FROM in_euros GROUP BY currency;
END;
