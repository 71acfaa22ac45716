/** States of kernels in Spark's state store: with a TTL that may change, and cached in real-time mode. */
package flinkplan.runtime.state;
