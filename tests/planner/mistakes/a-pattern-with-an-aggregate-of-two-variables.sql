INSERT INTO totals SELECT T.c, T.a FROM orders MATCH_RECOGNIZE (PARTITION BY customer ORDER BY ts MEASURES A.customer AS c, SUM(A.amount * B.amount) AS a PATTERN (A B+ C) DEFINE A AS A.id > 1) AS T;
