"""Which rule changed what, while a pipeline is compiled: for ``flinkplan explain --rules``."""
