package flinkplan.runtime.state;

