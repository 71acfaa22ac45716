"""Tables of lakes: their logs are read and written on the driver by libraries of their formats."""
