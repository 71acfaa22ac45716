package flinkplan.runtime.pyspark;

