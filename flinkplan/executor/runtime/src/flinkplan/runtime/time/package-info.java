package flinkplan.runtime.time;

