"""Operators that make new questions out of old ones, and the pipeline that makes a dynamic set of them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
