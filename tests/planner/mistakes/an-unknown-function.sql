INSERT INTO totals SELECT UPER(customer), amount FROM orders;
