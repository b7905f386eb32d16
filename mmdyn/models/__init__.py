"""Asking models."""
