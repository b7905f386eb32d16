"""Readers of words: numbers, units, options, formulas, negations; English and Chinese."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
