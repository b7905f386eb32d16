"""Operators that make new questions out of old ones."""
