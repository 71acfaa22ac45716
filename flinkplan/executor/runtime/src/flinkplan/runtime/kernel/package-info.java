package flinkplan.runtime.kernel;

