"""Asking models: backends, flow of requests, prices, budgets, and what else computes on this machine."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
