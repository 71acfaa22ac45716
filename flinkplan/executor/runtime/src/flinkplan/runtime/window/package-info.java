/** The window operator of the DataStream API: assigners, triggers, evictors and functions. */
package flinkplan.runtime.window;
