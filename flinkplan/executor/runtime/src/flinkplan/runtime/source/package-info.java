package flinkplan.runtime.source;

