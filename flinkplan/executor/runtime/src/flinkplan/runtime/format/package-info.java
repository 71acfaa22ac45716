package flinkplan.runtime.format;

