INSERT INTO journal SELECT 1, customer, n FROM counts /*+ OPTIONS('path' = 'other') */;
