package flinkplan.runtime.lookup;

