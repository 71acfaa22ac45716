INSERT INTO totals SELECT T.c, T.a FROM orders MATCH_RECOGNIZE (PARTITION BY customer ORDER BY ts MEASURES LAST(A.customer, 'a') AS c, B.amount AS a  PATTERN (A B+ C)  DEFINE A AS A.id > 1) AS T;
