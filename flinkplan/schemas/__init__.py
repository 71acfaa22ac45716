"""JSON Schemas of the compiled plan and the pipeline spec."""
