package flinkplan.runtime.functions;

