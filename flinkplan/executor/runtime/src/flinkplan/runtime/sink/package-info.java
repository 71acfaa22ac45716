package flinkplan.runtime.sink;

