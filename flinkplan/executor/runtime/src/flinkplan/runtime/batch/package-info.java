package flinkplan.runtime.batch;

