package flinkplan.runtime.aggregate;

