"""Checkpoints as things to be read, written and changed while no job runs on them."""
