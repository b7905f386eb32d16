"""Readers of the answers of each task type: what a response says, where, and by which rule."""
