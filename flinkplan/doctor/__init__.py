"""Why nothing comes out of a job: diagnoses of what its queries have counted, and of the state in its checkpoint."""
