/** Kernels whose functions are in Python: states and order here, the rest by a process of Python's, a batch at a time. */
package flinkplan.runtime.python;
