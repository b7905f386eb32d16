"""Rewriters: who puts a question into other words, by rules or by asking a model."""
