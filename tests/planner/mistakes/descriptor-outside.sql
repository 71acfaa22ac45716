INSERT INTO totals SELECT DESCRIPTOR(customer), amount FROM orders;
