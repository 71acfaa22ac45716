/** A kernel as an operator of a Spark query: over a state store in a stream, key by key in a batch. */
package flinkplan.runtime.operator;
