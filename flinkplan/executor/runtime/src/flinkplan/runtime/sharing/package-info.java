package flinkplan.runtime.sharing;

