package flinkplan.runtime.changelog;

