"""Carrying the state of a job over to a changed plan: a recipe for each state, and applying it to the neutral form."""
