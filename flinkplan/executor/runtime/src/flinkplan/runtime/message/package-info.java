package flinkplan.runtime.message;

