"""Operators on words and forms, one file each."""
