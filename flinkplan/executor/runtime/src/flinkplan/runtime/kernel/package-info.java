/** What all kernels share: their input, output and states, and the rows of a changelog key by key in order. */
package flinkplan.runtime.kernel;
