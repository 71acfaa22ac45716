"""Subqueries in expressions, rewritten as joins."""
