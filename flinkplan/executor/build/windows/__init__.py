"""Windows on Spark: which ones a row belongs to, and the operators that keep rows by them."""
