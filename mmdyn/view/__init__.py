"""The local web viewer: runs and sets as pages on 127.0.0.1. It reads, and writes nothing in what it shows."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
