"""Cases of windows in neutral JSON, with what Flink's DataStream API emits for them."""
