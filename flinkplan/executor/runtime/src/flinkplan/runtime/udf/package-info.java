/** Functions of users in Java: their class loaders, calls of them, and expressions of Spark over these. */
package flinkplan.runtime.udf;
