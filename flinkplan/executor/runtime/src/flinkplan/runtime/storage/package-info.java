package flinkplan.runtime.storage;

