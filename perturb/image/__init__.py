"""Operators on pictures, one file each."""
