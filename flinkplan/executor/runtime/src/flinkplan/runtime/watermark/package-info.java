package flinkplan.runtime.watermark;

