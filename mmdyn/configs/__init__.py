"""Ready runs and lists of chains, shipped with the package: a YAML file each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
