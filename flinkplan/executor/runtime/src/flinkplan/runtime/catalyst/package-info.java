package flinkplan.runtime.catalyst;

