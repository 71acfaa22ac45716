/** Process table functions: their states and timers, and kernels that call them key by key. */
package flinkplan.runtime.process;
