INSERT INTO totals SELECT /*+ STATE_TLL('a' = '1d') */ customer, amount FROM orders;
