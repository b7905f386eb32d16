"""Compare two answers: numbers, units, lists, regions and formulas. docs/equality.md says what is equal."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
