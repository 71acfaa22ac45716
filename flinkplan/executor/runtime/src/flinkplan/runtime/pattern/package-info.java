package flinkplan.runtime.pattern;

