ALTER MODEL m SET ('a' = 'b');
