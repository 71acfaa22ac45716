package flinkplan.runtime.rank;

