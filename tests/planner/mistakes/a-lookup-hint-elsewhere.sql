INSERT INTO totals SELECT /*+ LOOKUP('table' = 'rates') */ customer, amount FROM orders;
