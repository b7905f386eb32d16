"""Read numbers, units, options, formulas and negations in texts; English and Chinese."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
