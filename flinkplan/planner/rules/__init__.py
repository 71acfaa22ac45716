"""Rewrites of the logical algebra, one module a family of rules."""
