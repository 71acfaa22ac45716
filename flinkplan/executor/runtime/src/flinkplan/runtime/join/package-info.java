package flinkplan.runtime.join;

