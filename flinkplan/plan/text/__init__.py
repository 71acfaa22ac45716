"""Texts: JSON as people edit it, positions in it, how its values are spelt, and lines with a place marked."""
