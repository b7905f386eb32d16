"""Servers and models to test with: a fake server that speaks the APIs of model servers and misbehaves on request, and
scripts for models that say what a file says."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
