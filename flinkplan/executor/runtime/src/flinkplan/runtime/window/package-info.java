package flinkplan.runtime.window;

