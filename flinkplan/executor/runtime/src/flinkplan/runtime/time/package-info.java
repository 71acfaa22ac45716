/**
 * Kernels that wait for the watermark or the clock: aggregations and joins in windows, joins by time, OVER, patterns.
 */
package flinkplan.runtime.time;
