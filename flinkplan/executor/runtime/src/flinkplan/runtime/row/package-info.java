package flinkplan.runtime.row;

