package flinkplan.runtime.jdbc;

