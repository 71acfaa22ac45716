"""Rules over joins."""
