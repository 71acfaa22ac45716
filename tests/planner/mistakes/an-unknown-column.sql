INSERT INTO totals SELECT custommer, amount FROM orders;
