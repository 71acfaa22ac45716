"""Binding windows of the DataStream API."""
