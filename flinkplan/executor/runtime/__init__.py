"""The Java half of the executor: sources, sinks and stateful kernels, compiled on first use."""
