"""Judges: is a variant still the same question?"""
