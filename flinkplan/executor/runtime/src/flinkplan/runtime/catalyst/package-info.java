/** Extensions of Spark's Catalyst: expressions, generators and rules over physical plans. */
package flinkplan.runtime.catalyst;
