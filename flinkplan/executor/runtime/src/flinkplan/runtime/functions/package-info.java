/** Scalar functions that Spark does not have, or has with other results: static methods, called by their names. */
package flinkplan.runtime.functions;
