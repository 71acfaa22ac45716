package flinkplan.runtime.operator;

