/** Keys and values of messages made of rows, and rows made of them. */
package flinkplan.runtime.message;
