/** Real-time mode: the clock at each row, and watermarks that are sent to each partition. */
package flinkplan.runtime.realtime;
