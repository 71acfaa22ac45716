package flinkplan.runtime.realtime;

