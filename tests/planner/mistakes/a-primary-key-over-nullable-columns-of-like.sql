CREATE TABLE keyed (PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'print') LIKE archive (EXCLUDING ALL);
