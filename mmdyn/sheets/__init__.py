"""Sheets: pages on which people mark samples keep or reject, and what becomes of what they marked."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
