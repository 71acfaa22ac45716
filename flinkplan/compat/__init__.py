"""Whether state written under one plan can be read under another."""
