"""Tables, views and functions by name, and what their sources produce."""
